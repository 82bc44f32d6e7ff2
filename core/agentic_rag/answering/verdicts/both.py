"""Questions whether two sides are both of a kind, or of one nationality: each side's sentence states its value."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from agentic_rag.answering.extraction.negation import has_negation
from agentic_rag.answering.verdicts.nationalities import are_exclusive, nationalities_in, nationality_of
from agentic_rag.answering.verdicts.statements import (
    DecidableQuestion,
    QuotedSentence,
    SideFact,
    clean_names,
    find_subject,
)
from agentic_rag.language.tokenizer import tokenize

_NAME = r"[\"“]?[A-Z0-9][^\s,?]*(?: (?:(?:of|the|and|de|du|von|van|for|in|to|at|on|la|le|&) )*[A-Z0-9][^\s,?]*)*"
_BOTH = re.compile(
    r"^(?:Are|Were|Is|Was) (?!both\b)(?P<a>[^?]{2,80}?),? and (?P<b>[^?]{2,80}?),? both (?P<what>[^?]+?)\s*\?*$"
)
_BOTH_FIRST = re.compile(rf"^(?:Are|Were|Is|Was) both (?P<a>{_NAME}),? and (?P<b>{_NAME}),? (?P<what>[^?]+?)\s*\?*$")
_SAME = re.compile(
    r"^(?:Are|Were|Is|Was|Do|Did) (?:both )?(?P<a>[^?]{2,80}?),? and (?P<b>[^?]{2,80}?),? (?:both )?"
    r"(?:(?:of|from|in|located in|based in|have|share|having) )?(?:the )?same "
    r"(?:nationality|country|country of origin)\s*\?*$"
)
_LEAD = re.compile(
    r"^(?:(?:described|classified|known|considered|regarded) as |(?:considered|called) )?"
    r"(?:a type of |types of |a kind of |kinds of )?(?:an? )?",
    re.IGNORECASE,
)
_FROM = re.compile(r"^(?:from|in|located in|based in|situated in) (?:the )?(?P<place>[A-Z].+)$")
_PREDICATE = re.compile(
    r"^[\"”»]?\s*(?:\((?:[^()]|\([^()]*\))*\)\s*)?(?:,[^,]{2,60}, ?)?(?:is|are|was|were) (?P<what>.+)$", re.DOTALL
)
_PHRASE_ENDS = re.compile(
    r",|;|:|\(|\. |\b(?:who|which|that|whose|where|when|by|known|best|born|of|for|from|in|at|on|with|to|as|about|set|"
    r"located|situated|based|used|made|built|found|featuring|starring|formed|founded|written|directed|published|produced)\b"
)
_PLACED = re.compile(r"(?:(?:located|situated|based) )?in ")
"""The beginning of a place after a predicate."""
_JOINED = re.compile(r"[A-Z]\w+[-–][A-Z]")
"""Two nationalities in one word."""
_NO_KIND = re.compile(r"\b(?:of|in|from|by|for|used|and|or|with|at|on|to|same|who|that)\b")
_WEAKENS = re.compile(
    r"\b(?:former|formerly|fictional|so-called|alleged|would-be|non|half|part|type|descent|born)\b", re.I
)


@dataclass(frozen=True, slots=True)
class SharedKind:
    """Are both sides of a kind?"""

    sides: ClassVar[int] = 2
    names: tuple[str, str]
    what: str
    value: frozenset[str]
    """The stems of the kind."""

    def read_side(self, side: int, source: QuotedSentence) -> SideFact | None:
        """The kind, when the sentence opens with the name and states this kind."""
        predicate = _predicate(source, self.names[side])
        phrase = "" if predicate is None else _phrase(predicate)[0]
        said = tokenize(phrase)
        if _WEAKENS.search(phrase) or not said or said[-1] not in self.value or not self.value <= frozenset(said):
            return None
        return SideFact(self.what, self.what)

    def verdict(self, stated: Sequence[SideFact]) -> str | None:
        """Yes: each sentence states the kind."""
        return f"Yes: {self.names[0]} and {self.names[1]} are both {stated[0].text}."


@dataclass(frozen=True, slots=True)
class SameNationality:
    """Are both sides of one nationality, or of the one asked for?"""

    sides: ClassVar[int] = 2
    names: tuple[str, str]
    asked: str
    """As `nationality_of`; empty when the question names none."""

    def read_side(self, side: int, source: QuotedSentence) -> SideFact | None:
        """The only nationality in the predicate of the side, or in its place."""
        said = _predicate(source, self.names[side])
        if said is None or _WEAKENS.search(said) or _JOINED.search(said):
            return None
        phrase, rest = _phrase(said)
        named_at = f"{phrase} {rest}" if _PLACED.match(rest) else phrase
        found = nationalities_in(said)
        # A further nationality in the sentence may be a second one of this side.
        if len(found) != 1 or not nationalities_in(named_at):
            return None
        (one,) = found
        return SideFact(one.title(), one)

    def verdict(self, stated: Sequence[SideFact]) -> str | None:
        """Yes or no with both nationalities; None when one may include the other."""
        first, second = stated
        wanted = self.asked or first.unit
        if first.unit == second.unit == wanted:
            return f"Yes: {self.names[0]} and {self.names[1]} are both {first.text}."
        pairs = ((first.unit, second.unit),) if not self.asked else ((first.unit, wanted), (second.unit, wanted))
        if not any(are_exclusive(one, other) for one, other in pairs):
            return None
        return f"No: {self.names[0]} is {first.text}, {self.names[1]} is {second.text}."


def _predicate(source: QuotedSentence, name: str) -> str | None:
    """The predicate of a sentence that opens with the name; None for a negated one."""
    subject = find_subject(source, name)
    predicate = None if subject is None else _PREDICATE.match(subject.rest)
    return None if predicate is None or has_negation(predicate["what"]) else predicate["what"]


def _phrase(said: str) -> tuple[str, str]:
    """The noun phrase that opens a predicate, "an Italian opera composer", and the rest."""
    end = _PHRASE_ENDS.search(said)
    place = len(said) if end is None else end.start()
    return said[:place].strip(" ."), said[place:]


def parse_both_questions(question: str) -> tuple[DecidableQuestion, ...]:
    """The readings of a question about both sides; none for any other question."""
    same = _SAME.match(question)
    if same is not None:
        return (SameNationality(clean_names(same["a"], same["b"]), ""),)
    both = _BOTH_FIRST.match(question) or _BOTH.match(question)
    if both is None:
        return ()
    names, what = clean_names(both["a"], both["b"]), both["what"].strip()
    place = _FROM.match(what)
    nationality = nationality_of(what if place is None else place["place"])
    if nationality is not None:
        return (SameNationality(names, nationality),)
    kind = _LEAD.sub("", what)
    value = frozenset(tokenize(kind))
    if place is not None or not value or _NO_KIND.search(kind):
        return ()
    return (SharedKind(names, kind, value),)
