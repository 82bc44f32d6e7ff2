"""Rows of figures: a label and its figures between bars under a row of names, or, in tables whose columns were not
found, on a line with the columns named above.

Three Months Ended Nine Months Ended
June 25,
2022
June 26,
2021
...
Net sales:
Products $ 63,355 $ 63,948 $ 245,241 $ 232,309
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from agentic_rag.language.tables import RULE_ROW, caption_span, header_span, is_row, split_cells, split_names

_VALUE = (
    r"(?:[$€£]\s?)?(?:\(\s?(?:[$€£]\s?)?)?(?:\d+(?:,\d{3})*(?:\.\d+)?(?![\d,.]\d|,)|[—–-])(?:\s?%)?(?:\s?\)(?:\s?%)?)?"
)
"""A figure: every sign has one place in it, so that a line of many figures is read in one way or not at all."""
_VALUES = re.compile(rf"(?<!\s)(?:\s+{_VALUE})+$")
_TO_LAST_LETTER = re.compile(r".+[^\W\d_]")
_ROW_ENDS = re.compile(r"[\d)%—–-]$")
_CELL = re.compile(_VALUE)
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?"
_HEADER_WORD = re.compile(
    rf"{_MONTH}|\d{{1,2}},?|(?:19|20)\d\d,?|(?:Q|H)[1-4]|(?:First|Second|Third|Fourth|Three|Six|Nine|Twelve|Months?|Weeks?|"
    r"Quarters?|Half|Years?|Fiscal|Ended|Ending|Period|As|At|of|and|Change|Total|Unaudited|%|\$)\W*",
    re.IGNORECASE,
)
_PERIOD = re.compile(
    r"\b((?:Three|Six|Nine|Twelve|\d{1,2}) (?:Months|Weeks)|(?:Fiscal )?(?:Quarters?|Years?)) Ended\b", re.I
)
_DAY = re.compile(rf"({_MONTH} \d{{1,2}}),?")
_NOTE = re.compile(r"\(\d\)")
"""A reference to a note below the table, behind the label."""
_WANTS_YEAR = re.compile(rf"(?:{_MONTH} \d{{1,2}},?|\b[Dd]ue)$")
_NUMBERED = re.compile(
    r"\b(?:level|phase|tier|stage|step|class|series|tranche|category|type|grade|zone|no)$", re.IGNORECASE
)
"""The end of a label that a number belongs to."""
_COUNTRY_CODE = re.compile(r"\+\d{1,3}$")
_LEADING_ZERO = re.compile(r"0\d")
"""Of a group of digits of a telephone number or a code: a figure has none."""
_IS_NUMBER = re.compile(r"\d{1,2}")
"""What numbers a label or a note, not a year."""
_NAMED = re.compile(rf"{_MONTH} \d{{1,2}}, (?:19|20)\d\d|(?:[$%] )?Change\b(?: %)?")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_UNIT = re.compile(r"\(?\b(?:dollars |amounts |USD |EUR )?in (thousands|millions|billions)\b", re.IGNORECASE)
_MONEY = re.compile(r"[$€£]\s?\(?\d|\bin (?:thousands|millions|billions)\b", re.IGNORECASE)
_SHARES = re.compile(r"\b(?:shares?|basic|diluted)\b", re.IGNORECASE)
_MAX_LINES_ABOVE = 70
"""Lines looked at above a row: the longest statement of a filing has 60."""
_CAPTION_LINES = 3
_LONGEST_SECTION = 90
_LONGEST_HEADING = 5
"""Words of a line that heads rows without a colon."""
_SHORT_LABEL = 3
"""Words below which a label needs the line that heads its section; longer ones are often the sum below it."""
_LONGEST_ROW = 500
"""Code points of a label and the figures of the widest page; longer lines are text that was not wrapped."""
_MIN_PROSE_CHARACTERS = 110
"""Code points from which a line without figures is text, not part of a table."""

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class BorderlessRow:
    """A row of figures: its label, its figures as written, the name of each column where the lines above
    name as many, the unit ("millions"), and the spans of the section line, the column names and the caption above it.
    """

    label: str
    values: tuple[str, ...]
    columns: tuple[str, ...]
    unit: str | None
    section: Span | None
    header: Span | None
    caption: Span | None


def split_borderless_row(line: str) -> tuple[str, tuple[str, ...]] | None:
    """The label and the figures of a line; None for a line that is no row."""
    line = line.strip()
    if is_row(line):
        return _split_between_bars(line)
    if len(line) > _LONGEST_ROW or _ROW_ENDS.search(line) is None or _is_header(line):
        return None
    lettered = _TO_LAST_LETTER.match(line)
    found = None if lettered is None else _VALUES.search(line, lettered.end())
    if found is None:
        return None
    label = line[: found.start()].strip(" \t:.")
    if len(label) > _MIN_PROSE_CHARACTERS:
        return None
    values = [one.strip() for one in _CELL.findall(found[0]) if one.strip()]
    if _COUNTRY_CODE.search(label) or any(map(_LEADING_ZERO.match, values)):
        return None
    first = values[0]
    numbered = _IS_NUMBER.fullmatch(first) and _NUMBERED.search(label)
    if numbered or (_YEAR.fullmatch(first) and _WANTS_YEAR.search(label)):
        label, values = f"{label} {first}", values[1:]
    if len(values) > 2 and _NOTE.fullmatch(values[0]):
        values = values[1:]
    if not any(sign.isdigit() for value in values for sign in value):
        return None
    if len(values) == 1 and values[0].strip("()").isdigit():
        return None  # A page number or a reference to a note, as likely as not.
    return label, tuple(values)


def _split_between_bars(line: str) -> tuple[str, tuple[str, ...]] | None:
    label, *cells = split_cells(line)
    values = tuple(cell for cell in cells if cell)
    if not values or _TO_LAST_LETTER.match(label) is None or not all(_CELL.fullmatch(one) for one in values):
        return None
    return (label.rstrip(" .:"), values) if any(sign.isdigit() for one in values for sign in one) else None


def has_rows(text: str) -> bool:
    """Whether some line of a text is a row of a table without ruling lines."""
    return any(split_borderless_row(line) is not None for line in text.split("\n"))


def is_statement(text: str) -> bool:
    """Whether a text has a row of a financial statement: a table without ruling lines, and amounts of money."""
    return _MONEY.search(text) is not None and has_rows(text)


def parse_borderless_row(text: str, start: int, end: int) -> BorderlessRow | None:
    """The row [start, end) of a text with what the lines above it say of it; None for a line that is no row."""
    held = split_borderless_row(text[start:end].rsplit("\n", 1)[-1])
    if held is None:
        return None
    label, values = held
    if is_row(text[start:end]):
        return _parse_between_bars(text, start, end, held)
    section, header, caption = _read_above(text, start, end)
    named = text[slice(*header)] if header else ""
    above = (text[slice(*caption)] if caption else "") + named
    columns = _columns(named, len(values))
    unit = None if all(value.endswith("%") for value in values) else _unit(above.replace("\n", " "), label)
    if not columns and _numbers_label(values):
        columns = _columns(named, len(values) - 1)
        if columns:
            label, values = f"{label} {values[0]}", values[1:]
    return BorderlessRow(label, values, columns, unit, section, header, caption)


def _parse_between_bars(text: str, start: int, end: int, held: tuple[str, tuple[str, ...]]) -> BorderlessRow:
    """A row between bars: its section is the last row above with a label alone, unless a sum closes it."""
    label, values = held
    header = header_span(text, start)
    if header is None:
        return BorderlessRow(label, values, (), None, None, None, None)
    section: Span | None = None
    for line_start, line_end in _lines_above(text, start):
        line = text[line_start:line_end].strip()
        if line_start <= header[0] or RULE_ROW.match(line) or line.startswith("Total"):
            break
        alone = split_cells(line)
        if alone[0] and not any(alone[1:]):
            at = text.index(alone[0], line_start)
            section = (at, at + len(alone[0]))
            break
    caption = caption_span(text, header[0])
    names, cells = split_names(text[slice(*header)]), split_cells(text[start:end])
    columns = tuple(name for name, cell in zip(names[1:], cells[1:], strict=False) if cell)
    above = (text[slice(*caption)] if caption else "") + text[slice(*header)]
    unit = None if all(value.endswith("%") for value in values) else _unit(above, label)
    named = columns if len(columns) == len(values) and all(columns) else ()
    return BorderlessRow(label, values, named, unit, section, header, caption)


def _read_above(text: str, start: int, end: int) -> tuple[Span | None, Span | None, Span | None]:
    """The section line, the names of the columns and the caption above the row [start, end)."""
    section: Span | None = None
    header: Span | None = None
    caption: Span | None = None
    summed = False
    below = text[start:end]
    for line_start, line_end in _lines_above(text, start):
        line = text[line_start:line_end].strip()
        if _is_header(line):
            if caption is not None:
                break
            header = (line_start, header[1] if header else line_end)
        elif header is not None:
            if not line or (caption is not None and text.count("\n", line_start, caption[1]) >= _CAPTION_LINES):
                break
            caption = (line_start, caption[1] if caption else line_end)
        elif split_borderless_row(line) is not None:
            below = line
            summed = summed or (section is None and line.lower().startswith("total"))
        elif line.endswith(":") and len(line) <= _LONGEST_SECTION:
            section = section or (None if summed else (line_start, line_end))
        elif _heads_rows(line, below):
            section = section or (line_start, line_end)
        elif len(line) >= _MIN_PROSE_CHARACTERS or not line:
            break
    return section, header, caption


def table_head_before(before: str, text: str, start: int, end: int) -> str:
    """The caption, the names of the columns and the section line of the row [start, end) of a text that stand in the
    text before it, a line each; empty without any.
    """
    row = parse_borderless_row(before + "\n" + text, len(before) + 1 + start, len(before) + 1 + end)
    if row is None or row.header is None:
        return ""
    spans = [span for span in (row.caption, row.header, row.section) if span is not None and span[1] <= len(before)]
    return "".join(before[slice(*span)] + "\n" for span in sorted(spans))


def format_borderless_row(row: BorderlessRow, text: str) -> str:
    """The row as words: "Cost of sales: Products (in millions) — Three Months Ended June 25, 2022: $ 41,485; …"."""
    section = text[slice(*row.section)].strip(" :\n") if row.section else ""
    short = row.label.count(" ") < _SHORT_LABEL and section.lower() not in row.label.lower()
    lead = f"{section}: {row.label}" if section and short else row.label
    if row.unit:
        lead = f"{lead} (in {row.unit})"
    if not row.columns:
        return f"{lead} — {'; '.join(row.values)}"
    named = (f"{name}: {value}" for name, value in zip(row.columns, row.values, strict=True))
    return f"{lead} — {'; '.join(named)}"


def _unit(above: str, label: str) -> str | None:
    """What the figures count in; None for a row of shares under "in millions, except …"."""
    found = _UNIT.search(above)
    if found is None or ("except" in above[found.end() :] and _SHARES.search(label)):
        return None
    return found[1].lower()


def _lines_above(text: str, start: int) -> list[Span]:
    """The lines above an offset, nearest first."""
    found: list[Span] = []
    end = text.rfind("\n", 0, start)
    while end >= 0 and len(found) < _MAX_LINES_ABOVE:
        line_start = text.rfind("\n", 0, end) + 1
        found.append((line_start, end))
        end = line_start - 1
    return found


def _is_header(line: str) -> bool:
    """Whether a line only names periods: "Three Months Ended", "June 25,", "2022 2021", "% Change"."""
    words = line.strip(" ()").split()
    return (
        bool(words)
        and len(words) <= 24
        and all(_HEADER_WORD.fullmatch(word) for word in words)
        and any(len(word) > 2 or word == "%" for word in words)
    )


def _heads_rows(line: str, below: str) -> bool:
    """Whether a line without figures says whose the rows below it are ("North America"), rather than how their label
    begins.
    """
    words = line.split()
    return (
        0 < len(words) <= _LONGEST_HEADING
        and line[0].isupper()
        and (line[-1].isalpha() or line[-1] == ")")
        and not any(sign.isdigit() for sign in line)
        and below.strip()[:1].isupper()
        and split_borderless_row(below) is not None
    )


def _numbers_label(values: tuple[str, ...]) -> bool:
    """Whether the first figure, where one is over, may be the label's own number or that of a note: it has one or two
    digits and each of the others, two at least, has more.
    """
    first, *others = (sum(sign.isdigit() for sign in value) for value in values)
    longer = any(others) and all(count == 0 or count > first for count in others)
    return longer and len(others) > 1 and _IS_NUMBER.fullmatch(values[0]) is not None


def _columns(header: str, wanted: int) -> tuple[str, ...]:
    """The names of `wanted` columns, as far as the lines above name so many; none otherwise."""
    flat = " ".join(header.split())
    days, years = _DAY.findall(flat), _YEAR.findall(flat)
    periods = [" ".join(found.split()) + " Ended" for found in _PERIOD.findall(flat)]
    whole: list[str] = _NAMED.findall(flat)
    if len(whole) == wanted:
        names = whole
    elif wanted < 1 or len(years) != wanted:
        return ()
    elif len(days) == wanted:
        names = [f"{day}, {year}" for day, year in zip(days, years, strict=True)]
    elif days and wanted % len(days) == 0:
        share = wanted // len(days)
        names = [f"{days[place // share]}, {year}" for place, year in enumerate(years)]
    else:
        names = list(years)
    if periods and wanted % len(periods) == 0:
        share = wanted // len(periods)
        names = [f"{periods[place // share]} {name}" for place, name in enumerate(names)]
    return tuple(names)
