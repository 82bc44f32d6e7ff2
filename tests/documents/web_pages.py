"""Web pages with their main content made by hand: what is kept of it, and what is read beside it."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import mean

from agentic_rag.kernel.errors import ParseFailed
from tests.bench.reports import Row, at_least, at_most
from tests.documents.reading import DATA, Read

_PAGES = DATA / "wcxb"
_FEW = 12
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Page:
    """A page, its main content, and snippets that stand in it and beside it."""

    name: str
    html: bytes
    content: str
    belongs: Sequence[str]
    furniture: Sequence[str]


def web_pages(read: Read, short: bool) -> list[Row]:
    """The words of the main content by F1, mean over pages; the share of snippets of either kind that is read."""
    f1: list[float] = []
    belongs: list[bool] = []
    furniture: list[bool] = []
    for page in _pages(short=short):
        found = read(page.html, page.name)
        text = "" if isinstance(found, ParseFailed) else found.text
        f1.append(_f1(Counter(_words(text)), Counter(_words(page.content))))
        folded = " ".join(_words(text))
        belongs += [" ".join(_words(one)) in folded for one in page.belongs]
        furniture += [" ".join(_words(one)) in folded for one in page.furniture]
    return [
        at_least("web pages: words of the main content, F1", 100 * mean(f1), 80, " %", timed=False),
        at_least("web pages: snippets of the main content read", 100 * mean(belongs), 95, " %", timed=False),
        at_most("web pages: snippets of furniture read", 100 * mean(furniture), 40, " %", timed=False),
    ]


def _pages(*, short: bool) -> Iterator[Page]:
    names = sorted(path.stem for path in (_PAGES / "truth").glob("*.json"))
    for name in names[:: len(names) // _FEW] if short else names:
        truth = json.loads((_PAGES / "truth" / f"{name}.json").read_text())["ground_truth"]
        html = gzip.decompress((_PAGES / "html" / f"{name}.html.gz").read_bytes())
        yield Page(f"{name}.html", html, truth["main_content"], truth.get("with") or (), truth.get("without") or ())


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _f1(ours: Counter[str], theirs: Counter[str]) -> float:
    both = (ours & theirs).total()
    return 2 * both / (ours.total() + theirs.total()) if both else 0.0
