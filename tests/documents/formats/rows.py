"""The rows on formats: words found, files misread, files refused."""

from __future__ import annotations

import csv
import json
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher

from agentic_rag.kernel.errors import ParseFailed
from tests.bench.reports import Row, at_least, exactly
from tests.documents.formats import made_mail, made_office, made_texts
from tests.documents.formats.wording import LANGUAGES
from tests.documents.formats.wrong_files import encoded_files, wrong_files
from tests.documents.reading import DATA, Read

_FILES = 10
_LEAST_SHARE = 0.98
_MOST_NAMED = 4
_FEW = ("docx", "xlsx", "eml", "csv")
_FEW_WRONG = ("half.docx", "locked.xlsx", "odt.pdf", "old.xls", "password.docx", "picture.txt")
_FEW_PAGES = ("de-cp1252", "ja-utf-16-be")
"""Of the short forms."""
MAKERS: Mapping[str, Callable[[str], made_texts.Made] | None] = {
    "docx": made_office.word,
    "pdf": None,
    "xlsx": made_office.workbook,
    "pptx": made_office.slides,
    "zip": made_mail.archive,
    "odt": made_office.open_text,
    "ods": made_office.open_sheets,
    "msg": made_mail.outlook,
    "odp": made_office.open_slides,
    "epub": made_office.book,
    "eml": made_mail.mail,
    "rtf": made_texts.rich_text,
    "html": made_texts.web_page,
    "md": made_texts.markdown,
    "txt": made_texts.text,
    "csv": made_texts.comma_separated,
    "tsv": made_texts.tab_separated,
    "json": made_texts.json_text,
    "jsonl": made_texts.json_lines,
    "ipynb": made_texts.notebook,
}
"""Twenty formats; PDFs are all real."""


def formats(read: Read, short: bool) -> list[Row]:
    """Ten files of each format, the real ones first: the share of the known words that stand in the text, in order."""
    shares = dict[str, float]()
    misread = list[str]()
    for name in _FEW if short else MAKERS:
        found = [] if short else _real_shares(name, read)
        make = MAKERS[name]
        for language in LANGUAGES[1 : 2 if short else _FILES + 1 - len(found)] if make else ():
            content, expected = make(language) if make else (b"", ())
            text = read(content, f"{language}.{name}")
            found.append(None if isinstance(text, ParseFailed) else share_in_order(expected, text.text))
        misread += [name for share in found if share is not None and share < _LEAST_SHARE]
        shares[name] = sum(share or 0.0 for share in found) / len(found)
    worst = min(shares, key=lambda name: shares[name])
    low = [f"{name} {share:.2f}" for name, share in shares.items() if share < _LEAST_SHARE]
    return [
        at_least(f"{len(shares)} formats: words found, worst {worst}", shares[worst], _LEAST_SHARE, "", timed=False),
        _none("formats: those below", low),
        _none("formats: files misread as READY", misread),
    ]


def wrong(read: Read, short: bool) -> list[Row]:
    """Files that cannot be read are refused with the code that says why."""
    missed = list[str]()
    files = [one for one in wrong_files() if not short or one.name in _FEW_WRONG]
    for one in files:
        found = read(one.build(), one.name)
        if isinstance(found, ParseFailed):
            is_right, end = found.code == f"PARSE_{one.code}", found.code
        else:
            is_right, end = bool(one.words) and share_in_order(one.words, found.text) >= _LEAST_SHARE, "READY"
        missed += [] if is_right else [f"{one.name} {end}"]
    return [_none(f"wrong files: of {len(files)} not refused with their code", missed)]


def code_pages(read: Read, short: bool) -> list[Row]:
    """Texts in old code pages are read right or refused; those that name their code page are read."""
    misread, unread = list[str](), list[str]()
    files = [one for one in encoded_files() if not short or one.name.startswith(_FEW_PAGES)]
    right = 0
    for one in files:
        found = read(one.content, one.name)
        if isinstance(found, ParseFailed):
            unread += [one.name] if one.states else []
        elif share_in_order(one.words, found.text) < _LEAST_SHARE:
            misread.append(one.name)
        else:
            right += 1
    return [
        _none(f"code pages: of {len(files)} texts misread as READY", misread),
        _none("code pages: texts that state theirs and are refused", unread),
        Row("code pages: texts read right", f"{right}", "reported", ok=True),
    ]


def _none(name: str, missed: Sequence[str]) -> Row:
    """A row that names the first of what must not be."""
    named = ", ".join(dict.fromkeys(missed[:_MOST_NAMED])) + (" …" if len(missed) > _MOST_NAMED else "")
    return exactly(f"{name}: {named}" if missed else name, len(missed), 0)


def share_in_order(expected: Sequence[str], text: str) -> float:
    """The share of the expected words that stand in the text in that order."""
    wanted, found = _words("\n".join(expected)), _words(text)
    matcher = SequenceMatcher(None, wanted, found, autojunk=False)
    return sum(block.size for block in matcher.get_matching_blocks()) / len(wanted)


def _words(text: str) -> Sequence[str]:
    return re.findall(r"\w+", unicodedata.normalize("NFKC", text))


def _real_shares(extension: str, read: Read) -> list[float | None]:
    """Of real files that can be read: the share of the phrases that their readers agreed on; None where refused."""
    with (DATA / "files2" / "manifest.tsv").open(encoding="utf-8", newline="") as rows:
        listed = [
            row for row in csv.DictReader(rows, delimiter="\t", quoting=csv.QUOTE_NONE)
            if row["expected"] == "READY" and row["file"].endswith(f".{extension}")
        ]  # fmt: skip
    found = list[float | None]()
    for row in listed[:_FILES]:
        text = read((DATA / "files2" / row["file"]).read_bytes(), row["file"])
        phrases = [" ".join(_words(phrase)) for phrase in json.loads(row["phrases"])]
        said = "" if isinstance(text, ParseFailed) else " ".join(_words(text.text))
        share = min(sum(phrase in said for phrase in phrases) / max(int(row["min_phrases"]), 1), 1.0)
        found.append(None if isinstance(text, ParseFailed) else share)
    return found
