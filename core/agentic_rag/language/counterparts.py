"""Nouns of one verb for who acts and for whom it is done to: insurer and insured, lessor and lessee. English only."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_NOUN = re.compile(r"(?<![\w-])(?P<verb>[a-z]{3,}?)(?P<ending>ees?|[eo]rs?|ed)(?![\w-])")
_NOT_ROLES = frozenset({"committ", "guarant", "refer", "warrant"})
"""Verbs whose noun in -ee is none of a person that something is done to."""
_LABELS = frozenset({"accus", "assur", "indemnifi", "insur", "reinsur"})
"""Verbs whose participle is the label of a person it is done to; such as "Approved: Ann Lee" name who did it."""
_BEFORE_PERSON = re.compile(
    r"\b(?:the|an?|each|every|any|no|this|that|our|your|my|his|her|their|(?:first|additional|name) )(?: |$)+$"
)
_BEFORE_LABEL = re.compile(r"(?:^|[\n|;:]|name of(?: the)?)[ \t*#-]*$")
_OF_PERSON = re.compile(r"(?: +(?:name|part(?:y|ies)|persons?)\b|['’]s?\b)")
_PERSON_ENDS = re.compile(
    r" *(?:$|[\n|,.;:)?!]|\b(?:is|are|was|were|has|have|had|shall|must|may|can|will|should|who)\b)"
)
_LABEL_ENDS = re.compile(r" *(?:$|[\n|:])")
_LONGEST_BEFORE = 16
"""Characters before a participle that tell whether it is a noun."""
_ASKED = re.compile(
    r"\b(?:(?:who|which|what)(?: [a-z]+){0,2} (?:is|are|was|were)|(?:who|what)['’]s|"
    r"(?:names?|address(?:es)?|numbers?|phone|e-?mail|signature|account|seat) of)"
    r" (?:(?:the|an?|my|our|your|his|her|its|their|this) )?(?:[a-z-]+ )?(?P<noun>[a-z]{3,}?(?:ees?|[eo]rs?|ed))"
    r"(?=['’]|\W*$| (?:of|for|in|on|at|under|behind|and|or|named|name|address|phone|number)\b)"
)
"""A question for who has the role, or for what identifies that person: "What must the lessor pay?" is none."""
_ASKED_BY_VERB = re.compile(
    r"\b(?:who|(?:which|what) (?:[a-z]+ )?(?:company|firm|person|organi[sz]ation|bank|insurer|agency|party))"
    r" (?:(?P<is>is|are|was|were) (?:being )?|(?:has|have|will|would|shall|must) |does )?"
    r"(?P<verb>[a-z]{3,}?)(?P<ending>e[ds]|[se]|)(?![\w-])"
)
"""A question with the verb of a role: "Who insures the car?", "Who is employed by the bank?"."""


@dataclass(frozen=True, slots=True)
class VerbRole:
    """A noun of a role: its verb, as the letters before the noun's ending, and the side of it."""

    verb: str
    is_done_to: bool

    @property
    def counterpart(self) -> VerbRole:
        """The other side of the same verb."""
        return VerbRole(self.verb, not self.is_done_to)


def is_done_to(low: str, start: int, end: int) -> bool:
    """True where the participle at [start, end) of lower-case text is a noun: "the insured, …", "Insured name"."""
    before, after = low[max(0, start - _LONGEST_BEFORE) : start], low[end : end + _LONGEST_BEFORE]
    if _OF_PERSON.match(after):
        return True
    if low[start : end - len("ed")] in _LABELS and _BEFORE_LABEL.search(before) and _LABEL_ENDS.match(after):
        return True
    return _BEFORE_PERSON.search(before) is not None and _PERSON_ENDS.match(after) is not None


def asked_role(question: str) -> VerbRole | None:
    """The role whose holder a question asks for, if it names no other side of that verb."""
    low = question.lower()
    role = _asked_by_noun(low) or _asked_by_verb(low)
    return None if role is None or role.verb in _NOT_ROLES or role.counterpart in roles_of(low) else role


def _asked_by_noun(low: str) -> VerbRole | None:
    match = _ASKED.search(low)
    noun = None if match is None else _NOUN.fullmatch(match["noun"])
    return None if noun is None else _role_of(noun)


def _asked_by_verb(low: str) -> VerbRole | None:
    match = _ASKED_BY_VERB.search(low)
    if match is None or (match["is"] and match["ending"] != "ed"):
        return None
    return VerbRole(match["verb"], is_done_to=match["is"] is not None)


def roles_of(low: str) -> Mapping[VerbRole, int]:
    """The nouns of lower-case text that may be roles, with how often each occurs. Most are none: only a role and its
    counterpart tell.
    """
    found: dict[VerbRole, int] = {}
    for match in _NOUN.finditer(low):
        if match["ending"] != "ed" or is_done_to(low, *match.span()):
            role = _role_of(match)
            found[role] = found.get(role, 0) + 1
    return found


def _role_of(noun: re.Match[str]) -> VerbRole:
    return VerbRole(noun["verb"], "r" not in noun["ending"])


def says_only_counterpart(role: VerbRole, text: str) -> bool:
    """True for a text with the other side of a role and no other word of its verb."""
    low = text.lower()
    others = roles_of(low).get(role.counterpart, 0)
    return 0 < others == len(re.findall(rf"(?<!\w){re.escape(role.verb)}", low))
