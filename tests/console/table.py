"""The rows of `make console`."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.bench.reports import Row, at_least, exactly
from tests.console import estimates, proofs, streams
from tests.console.marked_lines import Marks, compare_layers, compare_words
from tests.console.text_layer import Overlaps, text_layers
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
    found = Marks()
    for path in _files(short):
        compare_words(path, found)
    for where in (*found.far, *found.wrong):
        print(f"    {where}")
    judged = max(1, found.judged)
    marked = f"{found.quotes - found.unmarked} of {found.quotes} quotes marked, {found.unjudged} not judged"
    return [
        at_least(f"marked lines that share 0.9 with poppler's words ({marked})", 100 * found.near / judged, 98.0, " %"),
        exactly("marks on another line", len(found.wrong), 0),
        at_least("quotes that are marked", 100 * (1 - found.unmarked / max(1, found.quotes)), 85.0, " %"),
    ]


def layers(short: bool) -> list[Row]:
    """Marked lines of drawn quotes, beside pdf.js' text layer."""
    found = Overlaps()
    with text_layers() as opened:
        for path in _files(short):
            compare_layers(path, found, opened)
    for where in (*found.far, *found.wrong):
        print(f"    {where}")
    told = f"{found.judged} lines, {found.unjudged} quotes not judged"
    near = 100 * found.near / max(1, found.judged)
    return [
        at_least(f"marked lines with an IoU of 0.9 beside pdf.js' text layer ({told})", near, 98.0, " %"),
        exactly("marks elsewhere than in pdf.js' text layer", len(found.wrong), 0),
    ]


def _files(short: bool) -> list[Path]:
    if not DATA.is_dir():
        pytest.skip(f"component: there is no {DATA}")
    if short:
        return [DATA / name for name in _SHORT]
    return [path for path in sorted(DATA.rglob("*.pdf")) if path.name not in _TOO_LARGE]


def screens(short: bool) -> list[Row]:
    """Every screen in a real browser; the short form is part of `tests/acceptance/test_over_http.py`."""
    return [] if short else whole_tour()


TABLE: Mapping[str, Measure] = {
    "marks": marks,
    "layers": layers,
    "screens": screens,
    "proof": proofs.proof,
    "replay": proofs.replay,
    "stream": streams.stream,
    "estimates": estimates.estimates,
}
