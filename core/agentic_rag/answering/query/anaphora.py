"""Finds the anaphors of a question: pronouns, "there", "that company", "which one" without antecedent in the question.

A word with an antecedent in the same question ("Did Acme sell *its* shares?") is no anaphor. In doubt a word counts as
explained, because a question that stands alone must stay as it is.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator
from dataclasses import dataclass

from agentic_rag.answering.query.mentions import find_question_names, kind_of_noun, word_set
from agentic_rag.language.english import FUNCTION_WORDS


class AnaphorKind(enum.Enum):
    """The kind of antecedent of a word."""

    PERSON = "person"
    THING = "thing"
    GROUP = "group"
    PLACE = "place"
    NAMED = "named"
    """With its noun: "that company"."""
    MATTER = "matter"
    """The whole statement before: "Why is that?", "Which one …?"."""


@dataclass(frozen=True, slots=True)
class Anaphor:
    """The span [start, end) of the question. `noun` is set for NAMED, lower case."""

    start: int
    end: int
    kind: AnaphorKind
    possessive: bool = False
    noun: str = ""


AUXILIARY = (
    r"(?:is|are|was|were|do|does|did|can|could|shall|should|must|may|might|will|would|has|have|had|isn't|aren't|wasn't|"
    r"weren't|don't|doesn't|didn't|can't|couldn't|won't|wouldn't)"
)
_WORD = re.compile(
    r"\b(?:(?P<person>he|she|him|his|hers|her|himself|herself)|(?P<thing>its|it)|(?P<group>they|them|theirs|their)|"
    r"(?P<place>there)|(?P<matter>(?:which|the (?:first|second|third|other|last|same)) ones?\b|the former|the latter)|"
    r"(?P<named>(?:that|those|the same|this|these) (?P<noun>(?-i:[a-z])[\w-]+))|(?P<bare>that|this|those|these))\b",
    re.IGNORECASE,
)
_LEAD = re.compile(r"^(?:(?:and|but|so|or|then|now|well|also|ok|okay)\b[, ]*)+", re.IGNORECASE)
_PREPOSITION = (
    r"(?:of|for|in|at|on|to|from|by|with|about|during|after|before|since|under|behind|near|like|into|against)"
)
_CLAUSE = re.compile(
    r"[,;:?!]|\. | - |--|[–—]|"
    r"\b(?:when|if|while|because|before|after|until|once|and|or|but|that|which|who|whose|where|so|as|than|unless|"
    r"although|though|whether)\b",
    re.IGNORECASE,
)
_SUBJECT = re.compile(rf"\b{AUXILIARY}(?: not)? $", re.IGNORECASE)
_OF_PHRASE = re.compile(
    rf"^(?:what|who|which|where|when|how)(?:['’]s| is| are| was| were) (?:the|a|an) [\w'’ -]{{1,60}}\b{_PREPOSITION} $",
    re.IGNORECASE,
)
_ASKS_WHO = re.compile(r"^(?:who|what)(?: \w+){1,2} $", re.IGNORECASE)
_LEADING_PHRASE = re.compile(r"^(?:in|at|on|during|by|for|after|before|since|under) [^,?]{1,60}, ?", re.IGNORECASE)
_PHRASE = re.compile(
    r"\b(?:the|a|an|each|every|any|some|this|my|our|your|one|no|another) \w+|"
    r"^(?:(?:in|at|on|for|by) )?(?:which|whose) \w+",
    re.IGNORECASE,
)
_HAS_SUBJECT = re.compile(rf"\b{AUXILIARY}(?: not)? (?!not )\w+ \w", re.IGNORECASE)
"""An auxiliary with more than a verb after it: the clause has a subject of its own."""
_TIME_WORDS = word_set("year day month time date much many long often far old kind type quarter week")
_WEATHER = r"(?:rain|rains|raining|snow|snows|snowing|windy|cold|hot|dark|foggy|wet|late|too late|midnight|noon)"
_JUDGEMENT_WORDS = (
    r"(?:possible|true|necessary|mandatory|allowed|permitted|important|legal|safe|required|compulsory|ok|okay|enough|better|"
    r"worth|likely|clear|known|said|forbidden|normal|common|correct|acceptable|sufficient|advisable|useful)"
)
_OPENS_CLAUSE = re.compile(
    rf"^(?:if|while|because|although|though|unless|until|once|whenever|when (?!{AUXILIARY}\b)) ?\w", re.IGNORECASE
)
_TAKES_TO = r"(?:similar|related|close|equal|due|open|next|linked|subject|attached|connected|identical|compared|up)"
_JUDGING = re.compile(r"\b(?:is|was|be|isn't|wasn't) $", re.IGNORECASE)
_JUDGEMENT = re.compile(rf"^(?: (?!{_TAKES_TO}\b)[\w'’-]+){{0,4}} (?:to|that|whether) \w", re.IGNORECASE)
_OF_SOMEONE = re.compile(r"^ be (?:[\w'’-]+ ){1,3}(?:to|that|for|if|whether) \w", re.IGNORECASE)
_EMPTY_IT = re.compile(
    rf"^(?: is| was| be| has been| get| gets)? (?:{_WEATHER}\b|"
    rf"(?:\w+ ){{0,2}}{_JUDGEMENT_WORDS} (?:to|that|for|if|whether|when)\b|"
    r"(?:\w+ ){0,1}(?:takes?|took|means?|meant|costs?|matters?|requires?) (?:\w+ ){0,4}?(?:to|if|whether|when)\b)",
    re.IGNORECASE,
)
_EXISTS_BEFORE = re.compile(rf"\b{AUXILIARY} $|\bbe(?:en)? $", re.IGNORECASE)
_EXISTS_AFTER = re.compile(
    r"^ (?:is|are|was|were|be|been|will|has|have|had|exists?|any|a|an|no|more|enough|ever|anything|anyone|something)\b",
    re.IGNORECASE,
)
_POINTS = re.compile(rf"(?:^|\b(?:{AUXILIARY}|{_PREPOSITION}|and|or|but|than|not) )$", re.IGNORECASE)
_NO_NOUN = FUNCTION_WORDS | word_set(
    "possible true correct right enough legal normal ok okay necessary mandatory still also really always "
    "currently mean means meant happen happened happens cost costs apply applies change changed work works "
    "include includes so due likely wrong useful safe good bad big important different new"
)
_AFTER_BARE = re.compile(
    rf"^(?: {AUXILIARY}\b| (?:mean|means|meant|happen|happened|happens|cost|costs|apply|applies|change|changed|changes|"
    rf"work|works|include|includes|possible|true|correct|right|enough|legal|normal|ok|okay|necessary|mandatory|so|\w+ed|"
    rf"{_PREPOSITION})\b|[ ?.!,]*$)",
    re.IGNORECASE,
)
_DONE = re.compile(r"\b(?:\w+ed|wrote|made|set|built|won|bought|sold|led|held|took|gave|chose|born) $", re.IGNORECASE)
"""A past verb: no relative clause follows it."""
_TIMES = frozenset(("year", "day", "date", "month"))
_AFTER_PREPOSITION = re.compile(rf"^ {_PREPOSITION}\b", re.IGNORECASE)
_SUBJECT_FORMS = frozenset(("he", "she", "they"))
_AFTER_THIS = re.compile(
    rf"^(?:\W*$|[,;:]| (?:{AUXILIARY}|{_PREPOSITION}|and|or|that|which|say|says)\b)", re.IGNORECASE
)
"""The text after a complete noun phrase."""
_PRESENT = word_set("year quarter month week morning afternoon evening summer winter spring autumn time days")
"""With "this" and "these" they mean the present."""
_END = re.compile(r"^[ ?.!]*$")


def find_anaphors(question: str) -> list[Anaphor]:
    """The anaphors of a question in reading order, only the first of each kind: the others share its antecedent."""
    found: dict[AnaphorKind, Anaphor] = {}
    for reference in _candidates(question):
        if reference.kind not in found and not _has_antecedent(question, reference):
            found[reference.kind] = reference
    return sorted(found.values(), key=lambda one: one.start)


def _candidates(question: str) -> Iterator[Anaphor]:
    for match in _WORD.finditer(question):
        before, after = question[: match.start()], question[match.end() :]
        word = match.group()
        if word.isupper() and len(word) > 1:
            continue
        start, end = match.span()
        low = word.lower()
        if match["person"]:
            owns = low == "his" or (low == "her" and _has_noun(after))
            yield Anaphor(start, end, AnaphorKind.PERSON, owns or low == "hers")
        elif match["thing"]:
            if low == "its" or not _is_expletive_it(before, after):
                yield Anaphor(start, end, AnaphorKind.THING, low == "its")
        elif match["group"]:
            yield Anaphor(start, end, AnaphorKind.GROUP, low in ("their", "theirs"))
        elif match["place"]:
            if _EXISTS_BEFORE.search(before) and not re.match(r"^who\b", before, re.IGNORECASE):
                if _END.match(after) and not _has_content(before):
                    yield Anaphor(start, end, AnaphorKind.MATTER)
            elif not _EXISTS_AFTER.match(after):
                yield Anaphor(start, end, AnaphorKind.PLACE)
        elif match["matter"]:
            yield Anaphor(start, end, AnaphorKind.MATTER)
        else:
            yield from _read_anaphor(match, before, after)


def _read_anaphor(match: re.Match[str], before: str, after: str) -> Iterator[Anaphor]:
    start, end = match.span()
    if match["named"] and match["noun"].lower() not in _NO_NOUN and not match["noun"].endswith("ed"):
        low = match.group().lower()
        noun = match["noun"].lower()
        now = low.startswith(("this ", "these ")) and (noun in _PRESENT or not _AFTER_THIS.match(after))
        now = now or (low.startswith("the same ") and kind_of_noun(noun) is None and noun not in _TIMES)
        apart = _POINTS.search(before) or _DONE.search(before) or noun in _TIMES
        relative = low.startswith("that ") and not apart
        if not now and not relative:
            yield Anaphor(start, end, AnaphorKind.NAMED, noun=noun)
        return
    word = match["bare"] or match.group().split()[0]
    if match["named"]:
        end, after = start + len(word), f" {match['noun']}{after}"
        if word.lower() == "the":
            return
    compared = _AFTER_PREPOSITION.match(after) and not _SUBJECT.search(before)
    if _END.match(after) or (_POINTS.search(before) and _AFTER_BARE.match(after) and not compared):
        yield Anaphor(start, end, AnaphorKind.MATTER)


def _is_expletive_it(before: str, after: str) -> bool:
    """ "It" without antecedent: weather, time, or a clause with "to …" or "that …" that follows."""
    if after.startswith(("'", "’")) or before.lower().endswith("worth ") or _EMPTY_IT.match(after):
        return True
    return bool(_OF_SOMEONE.match(after) or (_JUDGING.search(before) and _is_judgement(after)))


def _is_judgement(after: str) -> bool:
    return _JUDGEMENT.match(after) is not None or re.match(r"^ [\w'’ -]{1,40} for \w+ to \w", after) is not None


def _has_noun(after: str) -> bool:
    word = re.match(r" ([\w'’-]+)", after)
    return word is not None and word[1].lower() not in FUNCTION_WORDS


def _has_antecedent(question: str, reference: Anaphor) -> bool:
    """True when the antecedent stands before the word in its own question."""
    lead = _LEAD.match(question)
    offset = lead.end() if lead else 0
    if reference.start < offset:
        return False
    before = question[offset : reference.start]
    if reference.kind is AnaphorKind.NAMED:
        return re.search(rf"\b{re.escape(reference.noun)}\b", before, re.IGNORECASE) is not None
    body = _LEADING_PHRASE.sub("", before)
    if reference.kind is AnaphorKind.THING:
        body = before
    if reference.kind is AnaphorKind.PLACE:
        return _has_name(before)
    if _OPENS_CLAUSE.match(body) and _has_content(body):
        return True
    clauses = [match.start() for match in _CLAUSE.finditer(body) if match.start() > 0]
    if clauses:
        return _has_content(body[: clauses[-1]])
    word = question[reference.start : reference.end].lower()
    if word in _SUBJECT_FORMS and not _SUBJECT.search(body):
        return _has_content(body)
    return reference.possessive and _has_owner(body, plural=reference.kind is AnaphorKind.GROUP)


def _has_owner(body: str, *, plural: bool) -> bool:
    """True when a clause has a possible owner before its possessive pronoun."""
    if _SUBJECT.search(body) or _OF_PHRASE.match(body):
        return False
    if _has_name(body):
        return True
    if _ASKS_WHO.match(body):
        return False
    if body.lower().startswith("who ") or _HAS_SUBJECT.search(body):
        return True
    return _has_content(body) if plural else _PHRASE.search(body) is not None


def _has_name(text: str) -> bool:
    return bool(find_question_names(text))


def _has_content(text: str) -> bool:
    """True when the text has a word that may be an antecedent."""
    words = re.findall(r"[\w'’-]+", text.lower())
    return any(word not in FUNCTION_WORDS and word not in _TIME_WORDS and not word.isdigit() for word in words)
