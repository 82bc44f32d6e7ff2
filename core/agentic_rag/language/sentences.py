"""Splits text into sentences with exact offsets.

A sentence also ends with a line that is a unit by itself: a heading, a list item, a table row, the last line of a
paragraph. Lines broken by the page width are joined.
"""

from __future__ import annotations

import re

from agentic_rag.language.words.word_table import WordTable

_CANDIDATE = re.compile(
    # A single character class first, so that the regex engine skips other text quickly.
    r"""[.!?…؟۔।。！？｡\n\r\f\u2028\u2029](?:"""
    # The end of a sentence, or of an abbreviation. French has a space before a closing mark. References may follow it:
    # "in 1914.[23][24]: 105 He".
    r"""(?<=[.!?…؟۔।])(?:[ \u00a0\u202f]»(?=\s)|["'”’“‘»«)\]*_]{0,4})"""
    r"""(?:\[[0-9]{1,3}\](?:\s?:\s?[0-9]{1,4}(?:[-–][0-9]{1,4})?(?=\s))?){0,8}\s+"""
    r"""|(?<=[。！？｡])[」』”’）\]]{0,4}\s*"""  # CJK marks end a sentence even without a space
    r"""|(?<=[\n\r\f\u2028\u2029])\s*)"""
)
CLAUSE_END = re.compile(
    r"[;；。，、]|[.!?,](?=\s)|\s[–—-]\s|[()（）]|\b(?:and|but|or|while|whereas|although|though|"
    r"und|aber|sondern|während|wohingegen|sowie|et|mais|tandis que|alors que|y|pero|mientras que|mentre|ma|mas|"
    r"enquanto|terwijl|maar|oraz|podczas gdy|ale|и|а|но|тогда как)\b",
    re.IGNORECASE,
)
"""Where a clause of a sentence ends, in English and the languages with a word table."""
CHANGE_FROM = re.compile(r"\b(?:from|vom|von|de|desde|dal?|van|ze?|от|со?)[ €$£]*$", re.IGNORECASE)
CHANGE_TO = re.compile(r"\b(?:to|auf|à|al?|para|naar|tot|do|до)[ €$£]*$", re.IGNORECASE)
"""What stands before the two figures of a change: "from 10 euros to 12 euros"."""
_LAST_WORD = re.compile(r"[^\s(\[\"'“‘’„«»]*\Z")

_IN_ALL_LANGUAGES = frozenset({"mr", "mrs", "dr", "prof", "rev", "st", "mt", "vs", "cf"})
"""Abbreviations whose full stop never ends a sentence of any language (lower case, without the stop)."""
_BEFORE_FIGURES = frozenset({"no", "p", "art", "c", "n"})
"""The same where a figure follows."""
_COMPANIES = frozenset({"inc", "corp", "ltd", "co", "llc", "plc", "l.p", "l.l.c", "etc", "jr", "sr", "al", "u.s"})
"""Abbreviations whose full stop ends a sentence of any language only before a word that opens one."""

_NEVER_LAST = frozenset({
    "ms", "mx", "hon", "gen", "col", "capt", "lt", "sgt",
    "messrs", "v", "viz", "e.g", "i.e", "eg", "ie", "approx", "fig", "figs", "eq", "eqs", "nos",
    "vol", "vols", "pp", "ch", "sec", "arts", "par", "para", "ref", "refs", "ed", "eds",
    "tab", "app", "ver", "ca", "chap", "chaps",
})  # fmt: skip
"""Those of English."""

_SELDOM_LAST = frozenset({
    "bros", "dept", "univ", "assn", "est", "u.k", "u.n", "e.u", "u.s.a", "d.c", "n.y", "n.a", "a.m", "p.m", "ph.d",
    "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec",
})  # fmt: skip
"""Those of English."""

_OPENERS = frozenset({
    "the", "a", "an", "this", "that", "these", "those", "it", "its", "he", "she", "they", "we", "you", "i",
    "in", "on", "at", "as", "for", "from", "to", "by", "with", "after", "before", "during", "when", "while",
    "if", "although", "because", "since", "however", "moreover", "therefore", "thus", "there", "here", "our",
    "their", "his", "her", "such", "some", "many", "most", "all", "no", "not", "what", "who", "why", "how",
})  # fmt: skip
_NUMBERED = frozenset({
    "item", "items", "section", "sections", "note", "notes", "part", "chapter", "figure", "table", "step",
    "article", "exhibit", "rule",
})  # fmt: skip
_ORDINAL = re.compile(r"[0-9]{1,3}[A-Za-z]?")
_FIRST_OF_TWO = re.compile(r"(?<!\w)[^\W\d_]\.\s?\Z")
"""The first half of an abbreviation of two letters: "z. B."."""
_FIGURE = re.compile(r"[A-Z]{0,3}[0-9]|(?:[VX]|[IVXLC]{2,})\b")
_NUMBERED_START = re.compile(
    r"(?:item|section|note|part|chapter|article|exhibit|figure|table)\s+[0-9IVX]+[A-Z]?\b", re.IGNORECASE
)
_FIRST_WORD = re.compile(r"[^\W\d_]+")
_ITEM_START = re.compile(
    r"[-*+•▪◦‣·●○■☐☒–—]\s|\(?[0-9]{1,3}[.)]\s|\([A-Za-z]{1,4}\)\s|[A-Za-z]\)\s|#{1,6}\s|[|>]|```|~~~"
)
_LETTERED = re.compile(r"[a-z]\)\s")
"""An item of a list that opens with a small letter."""
_ROW_CHARACTERS = frozenset("0123456789.,()%$€£¥+-–—")
_VERY_SHORT_LINE, _SHORT_LINE = 25, 45
"""Code points. Before a capital or a digit, a line shorter than the first limit was not broken by the page width
(columns of journals have 35 or more). A line shorter than the second limit was not either if the next line is clearly
longer.
"""
_CLEARLY_LONGER = 1.3


def sentence_spans(text: str, table: WordTable | None = None) -> list[tuple[int, int]]:
    """The sentences of `text` as (start, end) code-point offsets, end exclusive; `table` is that of its language, None
    for English.

    Spans are ordered, disjoint and without white space at either end. Together they cover all characters other than
    white space. Linear in the length of the text.
    """
    spans: list[tuple[int, int]] = []
    size = len(text)
    start = size - len(text.lstrip())
    line_start = 0
    for match in _CANDIDATE.finditer(text, start):
        begin, after = match.span()
        first = text[begin]
        if first in "\n\r\f\u2028\u2029":
            cut = _line_ends(text, line_start, begin, after, size)
            line_start = after
            stop = begin
        elif first in ".!?…؟۔।":
            broken = "\n" in match[0]
            cut = after >= size or _sentence_ends(text, start, line_start, begin, after, table)
            if broken and not cut:
                cut = _line_ends(text, line_start, begin + 1, after, size)
            if broken:
                line_start = after
            stop = after
        else:
            cut, stop = True, after
        if cut and after > start:
            end = stop
            while end > start and text[end - 1].isspace():
                end -= 1
            if end > start:
                spans.append((start, end))
            start = after
    end = size
    while end > start and text[end - 1].isspace():
        end -= 1
    if end > start:
        spans.append((start, end))
    return spans


def _line_ends(text: str, line_start: int, begin: int, after: int, size: int) -> bool:
    """Whether the line [line_start, begin) ends a unit; white space follows it up to `after`."""
    if after >= size or text.count("\n", begin, after) > 1 or text[begin] in "\f\u2029":
        return True
    following = text[after]
    if following.islower():
        return (begin > line_start and text[line_start] in "#|") or _LETTERED.match(text, after) is not None
    if not following.isalnum() and _ITEM_START.match(text, after):
        return True
    if following.isdigit() and _ITEM_START.match(text, after):
        return True
    last = text[begin - 1] if begin > line_start else "\n"
    if last in ":|;" or text[line_start] in "#|":
        return True
    if last in ",-–(/&":
        return False
    if last.isdigit() and _NUMBERED_START.match(text, after):
        return True
    length = begin - line_start
    if length < _SHORT_LINE and (length < _VERY_SHORT_LINE or _line_length(text, after) > _CLEARLY_LONGER * length):
        return True
    return (last in _ROW_CHARACTERS or last.isspace()) and _is_row(text[max(line_start, begin - 60) : begin])


def _is_row(line_end: str) -> bool:
    """Whether a line ends in two columns of figures."""
    columns = line_end.rsplit(None, 2)
    return len(columns) > 1 and all(map(_ROW_CHARACTERS.issuperset, columns[-2:]))


def _line_length(text: str, start: int) -> int:
    end = text.find("\n", start)
    return (len(text) if end < 0 else end) - start


def _sentence_ends(text: str, start: int, line_start: int, begin: int, after: int, table: WordTable | None) -> bool:
    """Whether the mark at `begin` ends a sentence; the next word starts at `after`."""
    following = text[after]
    if following.islower():
        return False
    if text[begin] != ".":
        # A title that ends in a mark, and its year: "Fear Her!" (2006).
        return following != "(" or text[begin + 1].isspace()
    found = _LAST_WORD.search(text, max(start, begin - 24), begin)
    word = found[0] if found else ""
    if not word:
        return True
    abbreviated = _ends_after_abbreviation(text, begin - len(word), after, word, table)
    if abbreviated is not None:
        return abbreviated
    if word[0].isdigit() and _ORDINAL.fullmatch(word):
        before = text[max(line_start, begin - len(word) - 12) : begin - len(word)].rsplit(None, 1)
        if table is not None and table.is_ordinal(before[-1] if before else "", text, after):
            return False
        at_line_start = not text[line_start : begin - len(word)].strip() if begin - line_start < 16 else False
        return not at_line_start and not (before and before[-1].lower() in _NUMBERED)
    return True


def _ends_after_abbreviation(text: str, begin: int, after: int, word: str, table: WordTable | None) -> bool | None:
    """Whether the full stop of `word`, which stands at `begin`, ends a sentence; None where it is no abbreviation."""
    low = word.lower()
    if table is None:
        never, seldom, openers = _NEVER_LAST, _SELDOM_LAST, _OPENERS
    else:
        never, seldom, openers = table.never_last, table.seldom_last, table.function_words
    is_initial = len(word) == 1 and word.isupper()
    if not is_initial and (low in never or low in _IN_ALL_LANGUAGES):
        return False
    if not is_initial and (low in _BEFORE_FIGURES or (table is not None and low in table.before_figures)):
        return _FIGURE.match(text, after) is None
    if is_initial or low in seldom or low in _COMPANIES or (len(word) == 1 and _is_second(text, begin)):
        opener = _FIRST_WORD.match(text, after)
        return opener is not None and opener[0].lower() in openers and text[opener.end() : opener.end() + 1] != "."
    return None


def _is_second(text: str, begin: int) -> bool:
    return _FIRST_OF_TWO.search(text, max(0, begin - 4), begin) is not None
