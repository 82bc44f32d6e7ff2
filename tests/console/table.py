"""The rows of `make console`."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping

import pytest

from tests.bench.reports import Row, at_least, exactly
from tests.console import estimates, proofs, streams
from tests.console.marked_lines import Marks, compare
from tests.console.tours import whole_tour
from tests.quality.sets import DATA

Measure = Callable[[bool], list[Row]]
"""Measures rows; the argument asks for the short form."""

_TOO_LARGE = frozenset({"bomb-300mb.pdf"})
_SHORT = ("files/f72363-minimal-document.pdf", "files2/multilang.pdf", "files2/REPAIR-2022-INV-001_multipage.pdf")


def marks(short: bool) -> list[Row]:
    """Marked lines of drawn quotes, beside the words of poppler."""
    if shutil.which("pdftotext") is None:
        pytest.skip("component: pdftotext is not installed (scripts/install-system-packages)")
    if not DATA.is_dir():
        pytest.skip(f"component: there is no {DATA}")
    found = Marks()
    for path in [DATA / name for name in _SHORT] if short else sorted(DATA.rglob("*.pdf")):
        if path.name not in _TOO_LARGE:
            compare(path, found)
    for where in (*found.far, *found.wrong):
        print(f"    {where}")
    judged = max(1, found.judged)
    marked = f"{found.quotes - found.unmarked} of {found.quotes} quotes marked, {found.unjudged} not judged"
    return [
        at_least(f"marked lines that share 0.9 with poppler's words ({marked})", 100 * found.near / judged, 98.0, " %"),
        exactly("marks on another line", len(found.wrong), 0),
        at_least("quotes that are marked", 100 * (1 - found.unmarked / max(1, found.quotes)), 85.0, " %"),
    ]


def screens(short: bool) -> list[Row]:
    """Every screen in a real browser; the short form is part of `tests/acceptance/test_over_http.py`."""
    return [] if short else whole_tour()


TABLE: Mapping[str, Measure] = {
    "marks": marks,
    "screens": screens,
    "proof": proofs.proof,
    "replay": proofs.replay,
    "stream": streams.stream,
    "estimates": estimates.estimates,
}
