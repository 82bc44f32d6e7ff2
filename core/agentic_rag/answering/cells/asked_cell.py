"""The cell that a question asks for: the row whose label it says whole, and the column whose name it says best.

The same label stands in several tables of a report. So a row is worth what it, its column, and the lines above it
explain of the question, less what its column says that the question does not. Where rows that hold other values come
equally close, the question does not say which it means.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from agentic_rag.answering.cells.table_rows import TableRow
from agentic_rag.answering.extraction.answer_type_match import asks_for_money, names_money
from agentic_rag.language.tables import is_blank
from agentic_rag.language.tokenizer import tokenize
from agentic_rag.language.words.measures import lacks_unit
from agentic_rag.language.words.word_table import word_set

SECTION_CREDIT, CAPTION_CREDIT, TITLE_CREDIT = 0.9, 0.7, 0.5
"""What a word of the question counts in the line that heads a section, in the lines above the table, and in the title
and headings, against 1 in the row's label or its column's name.
"""
UNASKED_NAME, SHARED_NAME, UNASKED_SECTION, UNASKED_CAPTION, MOST_UNASKED = 0.3, 0.1, 0.05, 0.02, 0.2
"""What a word of the column's name takes away that the question does not say, one that all columns of its table share,
one of the section and one of the lines above the table; all of a section or of those lines together.
"""
OTHER_UNIT = 0.5
"""What a share takes away where the question asks for none, and a period where it names no period."""
LEAST_LEAD = 0.25
"""What a row must be worth more than one that holds another value, to be the one that is meant."""
MOST_UNEXPLAINED = 0.34
"""Of the words of the question: those that neither the row nor anything above it says."""
MOST_READINGS = 3

_IN_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_ASIDE = re.compile(r",? \(?net\)?$|[*†‡]+$|,? \(?unaudited\)?$", re.IGNORECASE)
_UNSAID = word_set(
    """
    a an the of and or for in on at by to with from as its it is was were are be been do does did has have
    had what which who whom whose how when where much many there this that these those figure value valu
    table tabl say high amount number accord report state give show s
    """
)
"""Words that name no row and no column, as they are stemmed."""
_NUMBERED = re.compile(r"\d")
_NAME = re.compile(r"(?<=[\w,;:)&’'%] )[A-ZÀ-Þ][\w’'&-]*")
"""A word with a capital that does not open the question."""
_SHARE = re.compile(r"%|\bper ?cent|\bshares?\b|\brates?\b|\bratios?\b", re.IGNORECASE)
_IN_HUNDRED = re.compile(r"%|\bper ?cent", re.IGNORECASE)
_PERIOD = re.compile(r"\b(?:months?|weeks?|quarters?|years?|period) end(?:ed|ing)\b", re.IGNORECASE)
_HEAD = 4
"""Letters of a label that must stand in the question before its words are looked at."""
_WORD_START = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class PlacedRow:
    """A row of the passage at `place` with the title and the headings that it stands under."""

    place: int
    row: TableRow
    titles: str


@dataclass(frozen=True, slots=True)
class AskedRow:
    """A row that is meant, and the worth of its best cell."""

    placed: PlacedRow
    label: frozenset[str]
    value: str
    worth: float


@dataclass(frozen=True, slots=True)
class _Question:
    low: str
    words: frozenset[str]
    required: frozenset[str]
    """Figures and names: a row that does not explain them is of something else."""
    asks_share: bool
    asks_period: bool
    asks_money: bool


def asked_rows(question: str, rows: Iterable[PlacedRow]) -> tuple[AskedRow, ...]:
    """The row that a question means by its label and its column; several where it fits them equally and they hold
    other values; none where it names no cell for sure.
    """
    asked = _Question(
        question.lower(),
        _words(question),
        frozenset(word for word in _words(question) if _NUMBERED.search(word))
        | _words(" ".join(_NAME.findall(question))),
        _SHARE.search(question) is not None,
        _PERIOD.search(question) is not None,
        asks_for_money(question),
    )
    found = [one for placed in rows if (one := _weigh(asked, placed)) is not None]
    if not found:
        return ()
    found.sort(key=lambda one: -one.worth)
    best = found[0]
    close = [one for one in found if one.worth > best.worth - LEAST_LEAD]
    if any(one.label != best.label for one in close) or any(_is_asked_beside(one, best) for one in found):
        return ()
    readings: dict[str, AskedRow] = {}
    for one in close:
        readings.setdefault(_plain(one.value), one)
    return tuple(readings.values()) if len(readings) <= MOST_READINGS else ()


def names_a_row(question: str, rows: Iterable[TableRow]) -> bool:
    """Whether a question says the label of a row."""
    low, words = question.lower(), _words(question)
    return any(_label_at(row, low, words) is not None for row in rows)


def _is_asked_beside(other: AskedRow, best: AskedRow) -> bool:
    """Whether the question says the label of another row of the table, and means it by no word around the best one."""
    row = best.placed.row
    if other.placed.place != best.placed.place or other.placed.row.names != row.names:
        return False
    around = _words("\n".join((*row.names, row.section, row.caption, best.placed.titles)))
    return bool(other.label - best.label - around)


def _weigh(asked: _Question, placed: PlacedRow) -> AskedRow | None:
    """The row with the worth of its best cell; None where the question does not say its label, or no column alone, and
    where the cell says nothing, or is in no unit of the measure asked for: that of another column answers another
    question.
    """
    row = placed.row
    at = _label_at(row, asked.low, asked.words)
    if at is None or (asked.asks_money and not _names_money(placed)):
        return None
    label, section = _label_words(row.cells[at]), _words(row.section)
    caption = _words(row.caption)
    above = dict.fromkeys(asked.words & _words(placed.titles), TITLE_CREDIT)
    above |= dict.fromkeys(asked.words & caption, CAPTION_CREDIT)
    above |= dict.fromkeys(asked.words & section, SECTION_CREDIT)
    above |= dict.fromkeys(asked.words & label, 1.0)
    unasked = min(MOST_UNASKED, UNASKED_SECTION * len(section - asked.words))
    unasked += min(MOST_UNASKED, UNASKED_CAPTION * len(caption - asked.words))
    names = {place: _label_words(name) for place, name in enumerate(row.names) if name and place != at}
    common = frozenset[str]() if len(names) < 2 else frozenset[str].intersection(*names.values())
    cells = [
        (worth - unasked, place)
        for place, name in names.items()
        if (name & asked.words) - label and (worth := _cell_worth(asked, row, place, name, common, above)) is not None
    ]
    cells.sort(key=lambda one: -one[0])
    if not cells or (len(cells) > 1 and cells[0][0] <= cells[1][0]):
        return None
    best, place = cells[0]
    value = row.cells[place]
    if is_blank(value) or lacks_unit(asked.low, value, row.names[place], row.section, row.caption):
        return None
    return AskedRow(placed, label, value, best)


def _names_money(placed: PlacedRow) -> bool:
    """Whether a row, its columns or what stands above them speak of money: torques by size are no prices."""
    row = placed.row
    return names_money("\n".join((*row.cells, *row.names, row.section, row.caption, placed.titles)))


def _cell_worth(
    asked: _Question,
    row: TableRow,
    place: int,
    name: frozenset[str],
    common: frozenset[str],
    above: Mapping[str, float],
) -> float | None:
    """What a cell explains of the question, less what its column says beside it; None for one that leaves too much
    unexplained.
    """
    value, named = row.cells[place], row.names[place]
    explained = {*above, *(asked.words & name)}
    extra = name - asked.words - common
    if (
        any(_NUMBERED.search(word) for word in extra)
        or not asked.required <= explained
        or len(asked.words - explained) > MOST_UNEXPLAINED * len(asked.words)
    ):
        return None
    worth = sum(1.0 if word in name else above[word] for word in explained)
    worth -= UNASKED_NAME * len(extra) + SHARED_NAME * len((name & common) - asked.words)
    if not asked.asks_share and _IN_HUNDRED.search("\n".join((row.caption, named, value))):
        worth -= OTHER_UNIT
    if not asked.asks_period and _PERIOD.search(named):
        worth -= OTHER_UNIT
    return worth


def _label_at(row: TableRow, low: str, words: frozenset[str]) -> int | None:
    """The place of the cell that the question says whole: the one with most words, of words rather than figures."""
    best: tuple[int, int] | None = None
    for place, cell in enumerate(row.cells):
        start = _WORD_START.search(cell)
        if start is None or (place and not cell[0].isalpha()) or start[0][:_HEAD].lower() not in low:
            continue
        label = _label_words(cell)
        if label and label <= words and (best is None or len(label) > best[0]):
            best = (len(label), place)
    return None if best is None else best[1]


@lru_cache(4096)
def _label_words(cell: str) -> frozenset[str]:
    """The words of a label or a name; what stands in brackets explains it."""
    plain = _IN_BRACKETS.sub(" ", cell).strip() or cell
    return _words(_ASIDE.sub("", plain))


def _words(text: str) -> frozenset[str]:
    return frozenset(
        word for word in tokenize(text) if word not in _UNSAID and (word.isalnum() or _NUMBERED.match(word))
    )


def _plain(value: str) -> str:
    """A value without the signs of its currency and of thousands: two tables may write the same one."""
    return "".join(sign for sign in value if sign.isalnum() or sign in ".-−–(%")
