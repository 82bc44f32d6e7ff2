"""Asks for an answer whose sentences each quote their passages word for word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agentic_rag.answering.prompts.fence import (
    FLAG,
    NUMBER,
    TEXT,
    fence_instruction,
    fence_text,
    list_of,
    strict_object,
)
from agentic_rag.models.chat.reply_fields import (
    as_fields,
    boolean_in,
    items_in,
    number_in,
    numbers_in,
    parse_fields,
    raw_text_in,
    text_in,
)
from agentic_rag.models.chat.request import ChatRequest, ChatTask, Prompt, ReplyInvalid, ReplySchema
from agentic_rag.retrieval.candidates import Passage

MAX_SENTENCES = 12
MAX_SENTENCE_CHARACTERS = 1000
MAX_QUOTES = 4
"""Of one sentence."""


@dataclass(frozen=True, slots=True)
class ClaimedQuote:
    """A model's quote of the passage at that position, unverified."""

    passage: int
    text: str


@dataclass(frozen=True, slots=True)
class ClaimedSentence:
    """A sentence of a model's answer to the sub-question at that position, unverified."""

    part: int
    text: str
    quotes: tuple[ClaimedQuote, ...]


@dataclass(frozen=True, slots=True)
class ClaimedAnswer:
    """A model's answer. `unanswered` are the sub-questions without an answer."""

    sentences: tuple[ClaimedSentence, ...]
    unanswered: tuple[int, ...]
    conflicting: bool
    """The passages disagree about what is asked."""


_QUOTE = strict_object({"passage": NUMBER, "quote": TEXT})
_SENTENCE = strict_object({"part": NUMBER, "text": TEXT, "quotes": list_of(_QUOTE)})
_FORM = ReplySchema(
    "answer", strict_object({"sentences": list_of(_SENTENCE), "unanswered": list_of(NUMBER), "conflicting": FLAG})
)

_FORM_TOKENS, _SENTENCE_TOKENS = 16, 90
"""Of the fields of a reply, and of a sentence of 30 tokens with a quote of as many. How long the draft of the rules is
tells less.
"""

_SYSTEM = (
    "You answer a question from passages of documents, and from nothing else: what you know yourself does not count. "
    "Answer in the question's language, in as few sentences as answer it, the direct answer first. Each sentence says "
    "only what its quotes say, stays close to their words, and keeps their numbers, units, names and dates as they "
    "are. For each sentence give one or more quotes: the number of the passage, and the exact words of it, copied "
    "character by character, without omissions; quote a whole sentence or table row rather than a fragment. Do not "
    "write citation marks into the text. Name in unanswered the numbers of the parts that the passages do not answer, "
    "and write no sentence for these; if they answer nothing, give no sentences at all. If passages disagree about "
    "what is asked, set conflicting and give a sentence for each side."
)


def synthesis_prompt(
    question: str, parts: Sequence[str], passages: Sequence[Passage], nonce: str
) -> Prompt[ClaimedAnswer]:
    """The answer to `question`, whose `parts` and the passages are numbered from 0."""
    shown = [
        fence_text(nonce, f"PASSAGE {place}", f"{_passage_label(passage)}\n{passage.chunk.text}")
        for place, passage in enumerate(passages)
    ]
    asked = "\n".join(f"{place}: {part}" for place, part in enumerate(parts))
    user = "\n".join(
        (*shown, fence_text(nonce, "PARTS", asked), fence_text(nonce, "QUESTION", question), "Answer QUESTION.")
    )

    def read(text: str) -> ClaimedAnswer:
        reply = parse_fields(text, "sentences", "unanswered", "conflicting")
        items = items_in(reply, "sentences")
        if len(items) > MAX_SENTENCES:
            raise ReplyInvalid(f"The answer has {len(items)} sentences; at most {MAX_SENTENCES} are read.")
        sentences = tuple(_sentence(one, len(parts)) for one in items)
        unanswered = tuple(sorted(set(numbers_in(reply, "unanswered"))))
        if any(not 0 <= one < len(parts) for one in unanswered):
            raise ReplyInvalid("The answer names a part that there is not.")
        return ClaimedAnswer(sentences, unanswered, boolean_in(reply, "conflicting"))

    return Prompt(
        ChatTask.SYNTHESIZE,
        ChatRequest(f"{_SYSTEM}\n\n{fence_instruction(nonce)}", user, _FORM),
        read,
        _FORM_TOKENS + _SENTENCE_TOKENS * len(parts),
    )


def _passage_label(passage: Passage) -> str:
    chunk = passage.chunk
    return "From: " + " › ".join((chunk.document_title, *chunk.heading_path))


def _sentence(item: object, parts: int) -> ClaimedSentence:
    fields = as_fields(item, "part", "text", "quotes")
    part = number_in(fields, "part")
    if not 0 <= part < parts:
        raise ReplyInvalid("A sentence answers a part that there is not.")
    quotes = items_in(fields, "quotes")[:MAX_QUOTES]
    return ClaimedSentence(part, text_in(fields, "text", MAX_SENTENCE_CHARACTERS), tuple(map(_quote, quotes)))


def _quote(item: object) -> ClaimedQuote:
    fields = as_fields(item, "passage", "quote")
    return ClaimedQuote(number_in(fields, "passage"), raw_text_in(fields, "quote"))
