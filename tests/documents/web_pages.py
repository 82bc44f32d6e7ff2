"""Web pages with their main content made by hand: what is kept of it, and what is read beside it."""

from __future__ import annotations

import gzip
import json
import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import mean

from agentic_rag.adapters.parsing.text_builder import LoadedText
from agentic_rag.documents.document import BlockKind
from agentic_rag.kernel.errors import ParseFailed
from tests.bench.reports import Row, at_least, at_most
from tests.documents.reading import DATA, FETCHED, Read

_PAGES = DATA / "wcxb"
_FEW = 12
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a kind, its main content, and snippets that stand in it and beside it."""

    name: str
    kind: str
    html: bytes
    content: str
    belongs: Sequence[str]
    furniture: Sequence[str]


def web_pages(read: Read, short: bool) -> list[Row]:
    """The words of the main content by F1, mean over pages and over those of the worst kind; the share of snippets of
    either kind that is read; processor time. The trees that choose blocks were trained on these pages.
    """
    f1 = defaultdict[str, list[float]](list)
    belongs: list[bool] = []
    furniture: list[bool] = []
    seconds = 0.0
    for page in _pages(short=short):
        began = time.process_time()
        found = read(page.html, page.name)
        seconds += time.process_time() - began
        text = "" if isinstance(found, ParseFailed) else _main_text(found)
        f1[page.kind].append(_f1(Counter(_words(text)), Counter(_words(page.content))))
        folded = " ".join(_words(text))
        belongs += [" ".join(_words(one)) in folded for one in page.belongs]
        furniture += [" ".join(_words(one)) in folded for one in page.furniture]
    all_f1 = [one for found in f1.values() for one in found]
    worst = min(f1, key=lambda kind: mean(f1[kind]))
    rows = [
        at_least("web pages: words of the main content, F1", 100 * mean(all_f1), 87, " %", timed=False),
        at_least("web pages: snippets of the main content read", 100 * mean(belongs), 95, " %", timed=False),
        at_most("web pages: snippets of furniture read", 100 * mean(furniture), 8, " %", timed=False),
        at_most("web pages: processor time a page", 1_000 * seconds / len(all_f1), 60, " ms"),
    ]
    if not short:
        rows.append(at_least(f"web pages: F1 of the worst kind, {worst}", 100 * mean(f1[worst]), 68, " %", timed=False))
    return rows


def _pages(*, short: bool) -> Iterator[Page]:
    names = sorted(path.stem for path in (_PAGES / "truth").glob("*.json"))
    for name in names[:: len(names) // _FEW] if short else names:
        stated = json.loads((_PAGES / "truth" / f"{name}.json").read_text())
        truth, kind = stated["ground_truth"], stated["_internal"]["page_type"]["primary"]
        html = gzip.decompress((_PAGES / "html" / f"{name}.html.gz").read_bytes())
        yield Page(
            f"{FETCHED}{name}.html",
            kind,
            html,
            truth["main_content"],
            truth.get("with") or (),
            truth.get("without") or (),
        )


def _main_text(found: LoadedText) -> str:
    """What passages are made of."""
    asides = (one for one in found.blocks if one.kind is BlockKind.ASIDE)
    return found.text[: min((one.start for one in asides), default=None)]


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _f1(ours: Counter[str], theirs: Counter[str]) -> float:
    both = (ours & theirs).total()
    return 2 * both / (ours.total() + theirs.total()) if both else 0.0
