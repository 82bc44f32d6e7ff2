"""Yes/no questions: a sentence states the proposition of the question word by word, or denies it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from agentic_rag.answering.extraction.negation import has_negation
from agentic_rag.answering.verdicts.statements import DecidableQuestion, QuotedSentence, SideFact
from agentic_rag.language.tokenizer import tokenize

_ASKS = re.compile(
    r"^(?P<verb>is|are|was|were|do|does|did|can|could|must|should|may|shall|will|has|have|had) "
    r"(?P<rest>[^?,;:]+?)\s*\?*$",
    re.I,
)
_DO = frozenset(["do", "does", "did"])
_WEAKENS = re.compile(
    r"\b(?:only|unless|except|if|when|until|provided|some|sometimes|often|rarely|usually|partly|might|seems?|appears?|"
    r"suggests?|whether|but|however|although|though|while|where|subject to|without|before|after|mostly|most|"
    r"nearly|almost|generally|normally|probably|possibly|likely|perhaps|depending|or|hardly|less|least|more)\b|\?",
    re.IGNORECASE,
)
_OTHERWISE = re.compile(
    r"\b(?:or|than|any|ever|always|all|every|same|both|not|no|it|he|she|they|this|that|these|there|you|i|we)\b", re.I
)
_BRACKET = re.compile(r" ?\([^()]*\)")
_ENDS = re.compile(r"[\"”»]?\s*(?:[.,;!]|$)")
_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
_DROPPED = frozenset(["the", "a", "an", "also", "currently", "now", "still", "already"])
_NOT = frozenset(["not", "never"])
_SHORT_NOT = re.compile(r"n['’]t\b", re.IGNORECASE)
WordPosition = tuple[str, int]
"""A word in lower case and where it ends."""
LEAST_WORDS = 3
"""Words beside the verb; a question with fewer says too little to be recognised."""


@dataclass(frozen=True, slots=True)
class Proposition:
    """The proposition of a yes/no question: its words in order, and the verb that opens the question."""

    sides: ClassVar[int] = 1
    words: tuple[str, ...]
    verb: str

    def read_side(self, side: int, source: QuotedSentence) -> SideFact | None:
        """Yes or no, when the sentence opens with the question's words in their order, with no other word among them or
        right after them.
        """
        text = _SHORT_NOT.sub(" not", _BRACKET.sub(" ", source.text).replace("cannot", "can not"))
        words = _plain(text)
        denied = [word for word, _ in words if word in _NOT]
        if _WEAKENS.search(text) or has_negation(text) != (len(denied) == 1) or len(denied) > 1:
            return None
        said = self._without_verb([one for one in words if one[0] not in _NOT], denied=bool(denied))
        opening = said[: len(self.words)]
        if tuple(_stem(word) for word, _ in opening) != self.words or not _ENDS.match(text, opening[-1][1]):
            return None
        return SideFact("No", "no") if denied else SideFact("Yes", "yes")

    def verdict(self, stated: Sequence[SideFact]) -> str | None:
        """Yes or No, as the sentence states."""
        return f"{stated[0].text}."

    def _without_verb(self, words: list[WordPosition], *, denied: bool) -> list[WordPosition]:
        """The words of the sentence without the question's verb; none when the sentence lacks that verb."""
        if self.verb in _DO and not denied:
            return words
        place = next((at for at, (word, _) in enumerate(words) if word == self.verb), 0)
        return [*words[:place], *words[place + 1 :]] if 0 < place <= len(self.words) else []


def parse_propositions(question: str) -> tuple[DecidableQuestion, ...]:
    """The proposition of a yes/no question; none for any other question."""
    match = _ASKS.match(question)
    if match is None or _OTHERWISE.search(match["rest"]):
        return ()
    said = tuple(_stem(word) for word, _ in _plain(match["rest"]))
    return (Proposition(said, match["verb"].lower()),) if len(said) >= LEAST_WORDS else ()


def _plain(text: str) -> list[WordPosition]:
    return [(word, one.end()) for one in _WORD.finditer(text) if (word := one[0].lower()) not in _DROPPED]


def _stem(word: str) -> str:
    found = tokenize(word)
    return found[0] if found else word
