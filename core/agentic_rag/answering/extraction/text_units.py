"""What a quoted unit of a passage is (prose, list item, table row, heading …) and how it reads in an answer."""

from __future__ import annotations

import enum
import re
from collections.abc import Sequence

from agentic_rag.language.english import FUNCTION_WORDS
from agentic_rag.language.orders import is_order
from agentic_rag.language.programming import name_set, opens_settings
from agentic_rag.language.tables import RULE_ROW, format_row, is_row

_SPACE = re.compile(r"\s+")
_TERMINAL = re.compile(r"[.!?…。！？:;][\"'”’»)\]*_]*$")
LIST_MARK = re.compile(r"^(?:[-*+•▪◦‣·●○■]|\(?\d{1,3}[.)]|\([a-zA-Z]{1,3}\)|[a-zA-Z][.)])\s+")
_TERM = re.compile(r"^(?:(?:[-*+•]|\(?\d{1,3}[.)]|\([a-zA-Z]{1,3}\)) +)?(\*\*|__)[^*_\n]{1,60}\1[.:]?$")
"""A term in bold that its description follows: "**Anode.**", "2. **Isolate.**"."""
_PAGE_FOOT = re.compile(r"\bpage \d+(?: of \d+)?\.?$")
_BOILERPLATE = (
    "all rights reserved",
    "©",
    "table of contents",
    "click here",
    "cookie policy",
    "intentionally left blank",
    "subscribe to",
    "terms of service",
    "terms of use",
    "skip to main content",
    "skip to content",
)
"""Lower-case phrases of text that surrounds documents. Searched one by one: as one pattern they cost ten times more."""
CAPTION = re.compile(r"^(?:table|figure|fig\.|exhibit|appendix|annex)\s*[\dA-Z][\d.]*[.:)]?\s", re.I)
_NUMBERED_HEADING = re.compile(r"^\d{1,2}(?:\.\d{1,2}){0,3}\.?\s+[A-Z]")
SECTION_LINE = re.compile(
    r"(?:(?:article|section|clause|chapter|part|rule|annex|appendix|schedule|artikel|abschnitt|kapitel|artículo|"
    r"capítulo) |§ ?)(?:\d+[a-z]?(?:\.\d+)*|[IVX]+)\b(?: ?[.:)–—-] ?| |$)(?:(?-i:[A-ZÀ-Þ])[^.!?;:\n]{0,70})?$",
    re.IGNORECASE,
)
"""A line that heads a section by its number, also without a blank line below it: "Article 4 - Payment"."""
_EMPHASIS = re.compile(r"(?<!\w)(\*\*|__|\*|_|`)(?=\S)(.+?)(?<=\S)\1(?!\w)")
_NEXT_ITEM = re.compile(r",(?: (?:and|or|und|oder|y|o))?$")
"""What leads from an item of a list to the next one."""
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)\s]*\)")
_REFERENCES = re.compile(r"(?<=[.,;:!?)\"”’])(?:\[\d{1,3}\](?: ?: ?\d{1,4}(?:[-–]\d{1,4})?(?= |$))?)+")
"""A source's own marks behind a clause: "in 1914.[23][24]: 105". In an answer they would look like its own."""
_EMPHASIS_MARKS = "*_` "
_ASKED = re.compile(
    r"(?:(?:which|whom?|whose) |(?:what|when|where|why|how) (?:is|are|was|were|do|does|did|can|could|will|would|"
    r"should|must|may|has|have) "
    r"|(?:what|how) (?:[\w'’-]+ ){1,3}(?:do|does|did|can|could|should|must|may|will|would) "
    r"(?:I|we|you|he|she|it|they|the|an?|my|our|your|this|these) "
    r"|(?:can|could|may|must|will|does|did) (?:I|we|you|it|there|they|my|our|an?|the (?!\d)) ?"
    r"|(?:is|are|has|have) (?:I|we|you|it|there|they) )[^,.:;!?]+$"
)
"""How English asks, the first letter in lower case: the verb stands before what it is said of. "What you need is …",
"Should it rain, …", "May the 4th is a holiday" and "Is an employee of Halden" are none.
"""
_FIRST_NUMBER = re.compile(r"\|? *(\d+)[.)]? *\|")
MOST_NUMBERED = 99
"""The highest number of a row that numbers it where no row beside it tells."""
_QUOTED_SPACE = re.compile(r"\s+([,.;:!?%)])(?=\s|$)")

_VALUE = re.compile(r"\d")
_YEAR = re.compile(r"(?<![\w.,£$€])(?:1[5-9]|20)\d\d(?![\w.,]?\d)")
_NUMBERED_PART = re.compile(
    r"\b(?:phase|part|chapter|section|step|volume|figure|table|no\.?|round|"
    r"appendix|annex|stage) \d+\b",
    re.IGNORECASE,
)
"""Numbers that do not make a line a row of a table: years, and what numbers a heading."""

_BOLD_LINE = re.compile(r"(\*\*|__)[^*_\n]{2,100}\1[.:]?$")
LONGEST_HEAD_LINE, LONGEST_QUESTION_LINE, LONGEST_QUESTION_LABEL = 45, 120, 12
CLEARLY_LONGER = 1.3
"""Code points of a line that heads a paragraph, and how much longer the line below it is."""
_LABELLED_LINE = re.compile(r"(?:\*\*|__)?[^\W\d_][\w.()/'’&-]*(?: [\w.()/'’&-]+){0,3}(?:\*\*|__)?:(?:\*\*|__)? +\S")
"""A label of up to four words with what it says: "Excused: D. Lunt", "author: A. Smith"."""
MAX_VALUE_CHARACTERS = 60
MIN_PROSE_WORDS = 4
MAX_PROSE_WORDS = 70
MAX_HEADING_WORDS = 12
MAX_NUMBERED_HEADING_WORDS = 5


class UnitKind(enum.Enum):
    """What a sentence span turns out to be."""

    PROSE = "prose"
    LIST_ITEM = "list_item"
    TABLE_ROW = "table_row"
    LABELLED = "labelled"
    """A label with its value on the next line: how the cells of a PDF's table come out."""
    TITLED = "titled"
    """A quote behind the title of its document, with or without a heading."""
    LIST = "list"
    """Several items, rows or paragraphs quoted as one span, a line each."""
    LEAD_IN = "lead_in"
    HEADING = "heading"
    FRAGMENT = "fragment"
    BOILERPLATE = "boilerplate"
    QUESTION = "question"
    ORDER = "order"
    """Tells whoever answers what to say."""


QUOTABLE = frozenset({UnitKind.PROSE, UnitKind.LIST_ITEM, UnitKind.TABLE_ROW, UnitKind.LABELLED})
"""What answers by itself; a lead-in does with the items or the code that it announces."""
_FRONT_FENCES = ("---\n", "+++\n")
FENCES = ("```", "~~~")
"""What a line of Markdown begins with that opens or closes a block of code."""


def heads_paragraph(line: str, below: str) -> bool:
    """True for the first line of a paragraph that heads the line below it, without a blank line between them: one with
    a section's number, one in bold, a question, or a short line that does not break off, above an item or a clearly
    longer line.
    """
    if not below or is_row(line) or is_row(below):
        return False
    if SECTION_LINE.match(line):
        return True
    if _BOLD_LINE.match(line):
        return not _BOLD_LINE.match(below)
    if LIST_MARK.match(line) or below[0].islower():
        return False
    if line.endswith(("?", "？")):
        return len(line) <= LONGEST_QUESTION_LINE
    if len(line) > LONGEST_HEAD_LINE or not line[0].isupper() or ": " in line or line[-1] == ",":
        return False
    if line.rsplit(" ", 1)[-1] in FUNCTION_WORDS:
        return False
    is_above = LIST_MARK.match(below) is not None or len(below) > CLEARLY_LONGER * len(line)
    return is_above and classify_unit(line) in (UnitKind.HEADING, UnitKind.QUESTION)


def is_numbered_title(line: str, before: str, after: str) -> bool:
    """True for a numbered line between blank lines that heads what stands below it: its neighbours `before` and `after`
    are not numbered, so that it is no item of a list.
    """
    return (
        line[:1].isdigit()
        and line.count(" ") < MAX_HEADING_WORDS
        and _TERMINAL.search(line) is None
        and bool(after)
        and LIST_MARK.match(line) is not None
        and not before[:1].isdigit()
        and not after[:1].isdigit()
    )


def split_section_lines(text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans, each that opens with a line that heads a section cut below it."""
    cut: list[tuple[int, int]] = []
    for start, end in spans:
        line = text.find("\n", start, end)
        if line > 0 and SECTION_LINE.match(text[start:line].rstrip()):
            below = line + len(text[line:end]) - len(text[line:end].lstrip())
            cut += [(start, start + len(text[start:line].rstrip())), (below, end)]
        else:
            cut.append((start, end))
    return cut


def join_terms(text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans, each that is a term in bold, or opens its line and asks, joined with the sentence that follows on its
    line: "- How long is the notice period? Three months."
    """
    joined: list[tuple[int, int]] = []
    opener: tuple[int, int] | None = None
    for span in spans:
        if opener is not None and "\n" not in text[opener[1] : span[0]]:
            joined[-1] = (opener[0], span[1])
        else:
            joined.append(span)
        opener = span if _TERM.match(text[slice(*span)]) or _opens_line_and_asks(text, *span) else None
    return joined


def _opens_line_and_asks(text: str, start: int, end: int) -> bool:
    """Not what somebody asks in a chat: "Ravi Menon, 09:05: does it have power?"."""
    said = text[start:end]
    return (
        said.rstrip(_EMPHASIS_MARKS + '"”’»)').endswith(("?", "？"))
        and len(said) <= LONGEST_QUESTION_LINE
        and ":" not in said[LONGEST_QUESTION_LABEL:]
        and not text[text.rfind("\n", 0, start) + 1 : start].strip()
    )


def split_labelled_lines(text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans, each cut between two lines that have a label, set a value or open settings."""
    if ": " not in text and "=" not in text:
        return list(spans)
    cut: list[tuple[int, int]] = []
    for start, end in spans:
        begin, line = start, start
        while (stop := text.find("\n", line, end)) >= 0:
            after = stop + 1
            if _stands_alone(text, text.rfind("\n", 0, line) + 1) and _stands_alone(text, after):
                cut.append((begin, begin + len(text[begin:stop].rstrip())))
                begin = after + len(text[after:end]) - len(text[after:end].lstrip())
            line = after
        cut.append((begin, end))
    return cut


def stands_among_labels(text: str, start: int, end: int) -> bool:
    """True for a line with a label, or that sets a value, directly above or below another one."""
    line = text.rfind("\n", 0, start) + 1
    if not _has_value(text, line):
        return False
    above = text.rfind("\n", 0, max(0, line - 1)) + 1
    has_below = text[end : end + 1] == "\n"
    return (line > 0 and _stands_alone(text, above)) or (has_below and _stands_alone(text, end + 1))


def _has_value(text: str, line: int) -> bool:
    return _LABELLED_LINE.match(text, line) is not None or name_set(text, line) is not None


def _stands_alone(text: str, line: int) -> bool:
    return _has_value(text, line) or opens_settings(text, line) or text.startswith(_FRONT_FENCES, line)


def classify_unit(unit: str, *, cut_off: bool = False) -> UnitKind:
    """The kind of a unit; `cut_off` says that it opens a chunk in the middle of a document."""
    words = unit.count(" ") + 1
    if unit.startswith("#") or RULE_ROW.match(unit):
        return UnitKind.HEADING
    if _is_boilerplate(unit.lower()):
        return UnitKind.BOILERPLATE
    if is_order(unit):
        return UnitKind.ORDER
    if SECTION_LINE.match(unit):
        return UnitKind.HEADING
    if is_row(unit):
        return UnitKind.QUESTION if _is_row_of_questions(unit) else UnitKind.TABLE_ROW
    if words <= MAX_HEADING_WORDS and CAPTION.match(unit):
        return UnitKind.HEADING
    if cut_off and unit[:1].islower():
        return UnitKind.FRAGMENT
    if is_question(unit):
        return UnitKind.QUESTION
    if LIST_MARK.match(unit):
        most = MAX_HEADING_WORDS if unit.isupper() else MAX_NUMBERED_HEADING_WORDS
        if words <= most and unit[0].isdigit() and not _TERMINAL.search(unit):
            return UnitKind.HEADING
        return UnitKind.LIST_ITEM if words > 2 or _UNSPACED_ITEM.search(unit) else UnitKind.FRAGMENT
    return _kind_of_text(unit, words)


def is_question(unit: str) -> bool:
    """True for what only asks: with a question mark at its end, inside whatever mark-up, or without an end in the word
    order of an English question, as entries of lists of frequent questions are written.
    """
    bare = LIST_MARK.sub("", _LINK.sub(r"\1", unit)).strip(_EMPHASIS_MARKS)
    if bare.endswith(("?", "？")):
        return True
    return _TERMINAL.search(bare) is None and _ASKED.match(bare[:1].lower() + bare[1:]) is not None


def is_valued_row(text: str, start: int, end: int) -> bool:
    """True for a row of a table that begins with a number which is no place in it: that of the row above or below is
    neither one less nor one more, or neither has one and it is high.
    """
    own = _FIRST_NUMBER.match(text, start, end)
    if own is None:
        return False
    above = text.rfind("\n", 0, max(0, start - 1)) + 1
    beside = [_FIRST_NUMBER.match(text, above, start), _FIRST_NUMBER.match(text, min(end + 1, len(text)))]
    apart = [abs(int(one[1]) - int(own[1])) for one in beside if one is not None]
    return 1 not in apart if apart else int(own[1]) > MOST_NUMBERED


def _is_row_of_questions(row: str) -> bool:
    """True for a row with nothing but questions behind its number."""
    cells = [cell.strip() for cell in row.strip("| ").split("|")]
    asking = cells[1:] if len(cells) > 1 and cells[0].rstrip(".)").isdigit() else cells
    return all(is_question(cell) for cell in asking)


_UNSPACED_ITEM = re.compile(r"[\u3041-\u30ff\u3400-\u9fff]{6}")
"""More than a word or two where no spaces stand between words."""
_UNSPACED_HEADING = re.compile(r"[\u3041-\u30ff\u3400-\u9fff（）()・/A-Za-z]{2,16}(?<![をにへでがはも])")
"""A short line without a mark, a figure or a space, where no spaces stand between words; it ends in no particle."""


def may_be_heading(unit: str) -> bool:
    """False for what `classify_unit` cannot take for a heading: it has too many words and no mark of one."""
    return unit.count(" ") < MAX_HEADING_WORDS or unit.startswith("#") or RULE_ROW.match(unit) is not None


def _is_boilerplate(low: str) -> bool:
    return any(phrase in low for phrase in _BOILERPLATE) or ("page " in low and _PAGE_FOOT.search(low) is not None)


def _kind_of_text(unit: str, words: int) -> UnitKind:
    """Prose, the line before a list, a bare row of a PDF's table, or a heading without mark-up."""
    if unit.endswith(":"):
        return UnitKind.LEAD_IN
    unspaced = unit[0] >= "\u2e80"
    if unspaced and _UNSPACED_HEADING.fullmatch(unit):
        return UnitKind.HEADING
    if unspaced or _TERMINAL.search(unit):
        return UnitKind.PROSE if unspaced or words >= MIN_PROSE_WORDS else UnitKind.FRAGMENT
    if words <= MAX_HEADING_WORDS and _NUMBERED_HEADING.match(unit):
        return UnitKind.HEADING
    if words > 2 and _VALUE.search(_NUMBERED_PART.sub(" ", _YEAR.sub(" ", unit))):
        return UnitKind.TABLE_ROW
    if words <= MAX_HEADING_WORDS:
        return UnitKind.HEADING
    return UnitKind.PROSE if words <= MAX_PROSE_WORDS else UnitKind.FRAGMENT


def label_start(text: str, spans: Sequence[tuple[int, int]], place: int) -> int | None:
    """Where the label starts that is the last line of a unit without figures in it and is followed by a line that is a
    figure with its unit; None when there is none.
    """
    if place + 1 >= len(spans):
        return None
    end = spans[place][1]
    start = max(spans[place][0], text.rfind("\n", 0, end) + 1)
    value_start, value_end = spans[place + 1]
    label, value = text[start:end], text[value_start:value_end]
    labelled = (
        text[end:value_start].strip(" ") == "\n"
        and len(value) <= MAX_VALUE_CHARACTERS
        and value[:2].strip("£$€~≈-")[:1].isdigit()
        and label[0] != "#"
        and label[-1] not in ".:;|"
        and not any(letter.isdigit() for letter in label)
    )
    return start if labelled else None


def holds_code(text: str) -> bool:
    """True for a text with a whole block of code."""
    return any(text.count(fence) > 1 for fence in FENCES)


def format_unit(unit: str, header: str | None = None) -> str:
    """The unit as a sentence of an answer: line breaks and mark-up folded, table cells named by their header row; one
    with a whole block of code as it stands.
    """
    if holds_code(unit):
        return unit
    text = format_row(unit, header) if is_row(unit) else _NEXT_ITEM.sub("", LIST_MARK.sub("", unit))
    text = _EMPHASIS.sub(r"\2", _LINK.sub(r"\1", text))
    text = _REFERENCES.sub("", _QUOTED_SPACE.sub(r"\1", _SPACE.sub(" ", text)).strip())
    if not _TERMINAL.search(text):
        text += "."
    return text
