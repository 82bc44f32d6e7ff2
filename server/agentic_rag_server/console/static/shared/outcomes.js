// What the outcomes of a run mean to its reader.

export const OUTCOMES = {
  GROUNDED: { tone: "ok", word: "Grounded", text: "Each sentence stands in your documents; its quote was compared with the stored text." },
  PARTIALLY_GROUNDED: {
    tone: "warn",
    word: "Partly grounded",
    text: "A part of the question is answered from your documents; the rest was not found in them.",
  },
  CONFLICTING: { tone: "warn", word: "Conflicting", text: "Your documents disagree. Both sides are quoted." },
  UNCERTAIN: {
    tone: "warn",
    word: "Uncertain",
    text: "This is the nearest text; it is not established that it answers the question.",
  },
  UNDERSPECIFIED: {
    tone: "warn",
    word: "Underspecified",
    text: "The question does not say which of several things it means.",
  },
  ABSTAINED: { tone: "bad", word: "No answer", text: "Your documents do not answer this, so nothing was made up." },
};

export const FEEDBACK_REASONS = {
  WRONG: "It states what is not so",
  WRONG_SOURCE: "The source does not establish it",
  INCOMPLETE: "Something is missing",
  OUTDATED: "It is out of date",
  OFF_TOPIC: "It answers another question",
  NO_ANSWER: "There should have been an answer",
  OTHER: "Something else",
};

export const FLAGS = {
  ACTIVE_MARKUP: "active markup",
  ENCODED: "encoded text",
  EXFILTRATION: "a request to send data away",
  HIDDEN_CHARACTERS: "hidden characters",
  INSTRUCTION: "an order to a model",
  REMOTE_IMAGE: "a remote image",
  ROLE_MARKUP: "chat-role markup",
  TOOL_CALL: "a tool call",
};

// Where a citation points, in words.
export function placeOf(citation) {
  const lines =
    citation.lineStart === citation.lineEnd
      ? `line ${citation.lineStart}`
      : `lines ${citation.lineStart}–${citation.lineEnd}`;
  return citation.page ? `page ${citation.page}, ${lines}` : lines;
}
