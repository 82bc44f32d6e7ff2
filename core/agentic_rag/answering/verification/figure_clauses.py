"""Whether a sentence gives a figure to something that its source says of another figure of the same kind."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from agentic_rag.answering.extraction.typed_values import ValueKind, find_values, stem
from agentic_rag.answering.verification.claim_words import FUNCTION
from agentic_rag.language.sentences import CHANGE_FROM, CHANGE_TO, CLAUSE_END
from agentic_rag.language.words.word_tables import function_words_of, table_of

_WORD = re.compile(r"[^\W_]+")
_FUNCTION = re.compile(f"{FUNCTION}|while|whereas|only|per|each")
_NUMERAL = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)*(?: ?%)?")
_UNIT = re.compile(r"\s*([^\W\d_]+)")
_YEAR = re.compile(r"(?:1[0-9]|20)\d\d")


@dataclass(frozen=True, slots=True)
class _Figure:
    """A figure at [start, end) of its text; those of one `unit` may be taken for each other."""

    start: int
    end: int
    unit: str
    amount: tuple[str | float | None, ...]


@dataclass(slots=True)
class _Zone:
    """What a text says of a figure, or of several that share it."""

    figures: list[_Figure]
    words: set[str] = field(default_factory=set[str])


def moves_figure(claim: str, source: str) -> bool:
    """True where the claim has a figure and speaks of what the source says of another one, which the claim leaves out:
    “Costs were 5 million, revenue 3 million” says nothing of a revenue of 5 million. What the source said before may
    stand in for what it leaves out later: “Adults pay 5 euros, children 3 euros”.
    """
    functions, read = function_words_of(source), _typed
    if table_of(source) is not None or not read(source):
        read = _numerals
    said, held = read(claim), read(source)
    spoken = _content(claim, functions)
    for unit in {one.unit for one in said}:
        alike = [one for one in held if one.unit == unit]
        zones, others = _zones(source, alike, functions)
        amounts = {one.amount for one in said if one.unit == unit}
        if len(zones) > 1 and _is_moved(spoken, amounts, zones, others):
            return True
    return False


def _is_moved(
    spoken: set[str], amounts: set[tuple[str | float | None, ...]], zones: Sequence[_Zone], others: set[str]
) -> bool:
    own = [at for at, zone in enumerate(zones) if any(one.amount in amounts for one in zone.figures)]
    if not own:
        return False
    allowed = others.union(*(zones[at].words for at in own))
    foreign = {at: zones[at].words - allowed for at in range(len(zones)) if at not in own}
    if any(spoken & words for at, words in foreign.items() if at > max(own)):
        return True
    of_its_own = set[str]().union(*(zones[at].words for at in own)) - others
    of_its_own -= set[str]().union(*(zones[at].words for at in foreign))
    return any(spoken & words for words in foreign.values()) and not spoken & of_its_own


def _zones(source: str, figures: Sequence[_Figure], functions: frozenset[str]) -> tuple[list[_Zone], set[str]]:
    """The zones of the figures in order, and the words of everything else: also what is said once a figure, as what
    they count is: “from 200 people to 300 people”.
    """
    common = _find_common(source, figures, functions)
    found: list[_Zone] = []
    others = set[str]()
    at = 0
    for number, figure in enumerate(figures):
        ends = figures[number + 1].start if number + 1 < len(figures) else len(source)
        before = [one.end() for one in CLAUSE_END.finditer(source, at, figure.start)]
        begins = before[-1] if before else at
        following = CLAUSE_END.search(source, figure.end, ends)
        leads = _content(source[begins : figure.start], functions) - common
        tail_ends = following.start() if following else figure.end if number + 1 < len(figures) else ends
        tail = _content(source[figure.end : tail_ends], functions) - common
        # Where words lead to the figure, those behind it mostly are about all: "guests pay 8 euros per day".
        # And those behind a range are about both of its ends: "from 3 to 5 million in Europe".
        is_shared = bool(leads) or (bool(found) and not before)
        words, shared = (leads, tail) if is_shared else (tail, set[str]())
        if number and not before and _ends_range(source, figures[number - 1], figure):
            words, shared = set[str](), leads | tail
        others |= shared | _content(source[at:begins], functions)
        if words or not found:
            found.append(_Zone([figure], words))
        else:
            found[-1].figures.append(figure)
        at = tail_ends
    return found, others | common | _content(source[at:], functions)


def _find_common(source: str, figures: Sequence[_Figure], functions: frozenset[str]) -> set[str]:
    counts = Counter(stem(word.lower()) for word in _WORD.findall(source))
    return {word for word in _content(source, functions) if counts[word] >= len(figures)}


def _ends_range(source: str, first: _Figure, last: _Figure) -> bool:
    """Whether they are the ends of one change: “rose from 10 euros in May to 12 euros”."""
    begins = max(0, first.start - 12)
    return bool(CHANGE_FROM.search(source, begins, first.start) and CHANGE_TO.search(source, first.end, last.start))


def _typed(text: str) -> list[_Figure]:
    found = (one for one in find_values(text) if one.kind not in (ValueKind.NAME, ValueKind.ORDINAL))
    return [
        _Figure(one.start, one.end, f"{one.kind.name} {one.parts[0]}", one.parts[1:])
        if one.kind is ValueKind.FIGURE
        else _Figure(one.start, one.end, one.kind.name, one.parts)
        for one in found
    ]


def _numerals(text: str) -> list[_Figure]:
    return [_numeral(text, one) for one in _NUMERAL.finditer(text)]


def _numeral(text: str, numeral: re.Match[str]) -> _Figure:
    """Languages whose figures are not read: a numeral and the word behind it."""
    if _YEAR.fullmatch(numeral[0]):
        return _Figure(numeral.start(), numeral.end(), "year", (numeral[0],))
    following = _UNIT.match(text, numeral.end())
    unit = "%" if numeral[0].endswith("%") else following[1].lower() if following else ""
    return _Figure(numeral.start(), following.end() if following else numeral.end(), unit, (numeral[0],))


def _content(text: str, functions: frozenset[str]) -> set[str]:
    """The stems of the words that are neither figures nor function words."""
    words = (word.lower() for word in _WORD.findall(text))
    return {stem(word) for word in words if not (word[0].isdigit() or word in functions or _FUNCTION.fullmatch(word))}
