"""Whether a model's own sentence says no more, and nothing else, than the text that it quotes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from agentic_rag.answering.extraction.negation import count_negations, has_negation
from agentic_rag.answering.extraction.typed_values import TypedValue, ValueKind, find_values, is_unit, stem
from agentic_rag.answering.prompts.fence import find_unsupported_words
from agentic_rag.answering.verification.claim_words import FUNCTION
from agentic_rag.answering.verification.figure_clauses import moves_figure

MAX_NEW_SHARE = 0.15
"""Of a sentence's content words, those that its source does not have: another word for the same."""

_WORD = re.compile(r"[^\W_]+")
_FUNCTION = re.compile(FUNCTION)
_CLAUSE = re.compile(r";|[.!?](?=\s)|,\s+(?:and|but|or|so|while|whereas|although|though)\b|\s(?:but|while|whereas)\b")
_BY = re.compile(r"\bby\b")
_QUANTIFIERS = {
    name: re.compile(rf"\b(?:{words})\b", re.IGNORECASE)
    for name, words in {
        "all": r"all|every|each|always|entire(?:ly)?|whole|any",
        "both": r"both",
        "some": r"some(?:times)?|several|certain|various|occasionally",
        "most": r"most(?:ly)?|usually|mainly|majority|generally|primarily",
        "many": r"many|often|numerous|frequently|lots",
        "few": r"few(?:er)?|rarely|seldom|hardly",
        "only": r"only|solely|just|exclusively|merely",
        "least": r"at least|more than|over|above|minimum|exceed\w*",
        "under": r"at most|up to|less than|fewer than|under|below|maximum|no more than",
    }.items()
}


def find_unsupported(claim: str, source: str, titles: Sequence[str]) -> str | None:
    """The guardrail that a model's sentence breaks against the text that it quotes; None where it breaks none."""
    if has_negation(claim) != has_negation(source) or count_negations(claim) > count_negations(source):
        return "negation_not_in_source"
    held = "\n".join((*titles, source))
    known = find_values(held)
    said = find_values(claim)
    figures = [one for one in said if one.kind is not ValueKind.NAME]
    if any(sum(map(one.agrees, figures)) > _count_held(one, known) for one in figures):
        return "figure_not_in_source"
    if _moves_between_clauses(claim, source, figures) or moves_figure(claim, source):
        return "figure_of_another_clause"
    if find_unsupported_words(_without(claim, said), held):
        return "name_not_in_source"
    if any(len(pattern.findall(claim)) > len(pattern.findall(held)) for pattern in _QUANTIFIERS.values()):
        return "quantifier_not_in_source"
    if _adds_words(_without(claim, said), held):
        return "words_not_in_source"
    return "roles_not_as_in_source" if _swaps_roles(claim, source) else None


def _moves_between_clauses(claim: str, source: str, figures: Sequence[TypedValue]) -> bool:
    """True where a clause of the claim has a figure of one clause of the source, and speaks of what stands only in
    clauses with a figure that the claim leaves out: “Costs were 5 million, and revenue fell to 3 million” says nothing
    of a revenue of 5 million.
    """
    clauses = [(_content(one), find_values(one)) for one in _CLAUSE.split(source)]
    if not figures or len(clauses) < 2:
        return False
    for part in _CLAUSE.split(claim):
        spoken = _content(part)
        for figure in find_values(part):
            if figure.kind is ValueKind.NAME:
                continue
            if any(not words and _holds(values, part) for words, values in clauses):
                # “In 2020 the plant had 200 employees; in 2021 it had 300”: the second clause is about the same.
                continue
            of_kind = [(words, values) for words, values in clauses if any(one.kind is figure.kind for one in values)]
            own = [words for words, values in of_kind if _count_held(figure, values)]
            others = [
                words for words, values in of_kind if not _count_held(figure, values) and _leaves_out(claim, values)
            ]
            elsewhere = [words for words, values in clauses if (words, values) not in of_kind]
            allowed = set[str]().union(*own, *elsewhere)
            if own and others and (spoken & set[str]().union(*others)) - allowed:
                return True
    return False


def _holds(values: Sequence[TypedValue], part: str) -> bool:
    return all(one.kind is ValueKind.NAME or _count_held(one, values) for one in find_values(part))


def _leaves_out(claim: str, values: Sequence[TypedValue]) -> bool:
    said = find_values(claim)
    return any(one.kind is not ValueKind.NAME and not any(map(one.agrees, said)) for one in values)


def _content(text: str) -> set[str]:
    """The stems of the words that are neither figures nor function words."""
    words = _WORD.findall(text)
    return {stem(word) for word in words if not word[0].isdigit() and not _FUNCTION.fullmatch(word.lower())}


def _count_held(value: TypedValue, known: Sequence[TypedValue]) -> int:
    """How many of `known` tell as much. A figure with a noun instead of a unit is held by that of any noun."""
    of_kind = [one for one in known if one.kind is value.kind]
    if value.kind is ValueKind.DATE:
        pairs = (zip(value.parts, one.parts, strict=True) for one in of_kind)
        return sum(all(mine is None or mine == its for mine, its in pair) for pair in pairs)
    if value.kind is ValueKind.FIGURE and str(value.parts[0])[:4] in ("", "noun"):
        return sum(value.parts[1] == one.parts[1] for one in of_kind)
    return sum(map(value.agrees, of_kind))


def _without(claim: str, values: Sequence[TypedValue]) -> str:
    """The claim without the values that are compared by what they mean."""
    for one in reversed(values):
        if one.kind is not ValueKind.NAME:
            claim = claim[: one.start] + " " * (one.end - one.start) + claim[one.end :]
    return claim


def _adds_words(claim: str, held: str) -> bool:
    """True where a new word is a unit, two neighbouring content words are new, or too many are: a clause was added."""
    known = {stem(word) for word in _WORD.findall(held)}
    words = [word for word in _WORD.findall(claim) if not _FUNCTION.fullmatch(word.lower())]
    is_new = [not word.isdigit() and stem(word) not in known for word in words]
    if any(new and is_unit(word) for new, word in zip(is_new, words, strict=True)):
        return True
    return any(map(all, pairwise(is_new))) or sum(is_new) > max(1, MAX_NEW_SHARE * len(words))


def _swaps_roles(claim: str, source: str) -> bool:
    """True where two words changed sides around a third: who did what to whom. Active and passive may."""
    ours, theirs = _places(claim), _places(source)
    common = ours.keys() & theirs.keys()
    content = [word for word in common if not _FUNCTION.fullmatch(word)]
    if len(_BY.findall(claim)) != len(_BY.findall(source)):
        return False
    for middle in common:
        moved = {(ours[one] < ours[middle], theirs[one] < theirs[middle]) for one in content if one != middle}
        if {(True, False), (False, True)} <= moved:
            return True
    return False


def _places(text: str) -> dict[str, int]:
    """The words that stand once, with their places."""
    words = [stem(word) for word in _WORD.findall(text)]
    return {word: place for place, word in enumerate(words) if words.count(word) == 1}
