"""Prints results to standard output and everything else to standard error. A progress bar appears on a terminal, a
line now and then elsewhere.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, Self

_BAR_WIDTH = 28
_REDRAW_SECONDS = 0.05
_LINE_SECONDS = 10.0
"""Between lines of progress in a log."""

_CONTROLS = tuple(code for code in (*range(0x20), *range(0x7F, 0xA0)) if code not in (0x09, 0x0A))
"""C0 and C1 without tab and line feed (ECMA-48): a file's name or text must not control the terminal."""
_SHOWN = {code: f"\\x{code:02x}" for code in _CONTROLS}
_ON_ONE_LINE = {0x09: "\\t", 0x0A: "\\n"}
_IN_JSON = {code: f"\\u{code:04x}" for code in _CONTROLS}


def result(text: str) -> None:
    """Print a part of the command's result."""
    print(_visible(text), flush=True)


def result_json(value: Any) -> None:
    """Print the result as one JSON document."""
    print(json.dumps(value, ensure_ascii=False, indent=2).translate(_IN_JSON), flush=True)


def show(value: Any, text: str, *, as_json: bool) -> None:
    """Print the result: `value` as JSON, else `text`."""
    if as_json:
        result_json(value)
    else:
        result(text)


def note(text: str) -> None:
    """Print a message for people to standard error."""
    print(_visible(text), file=sys.stderr, flush=True)


def clear_line() -> None:
    """Remove what a line of progress shows on the terminal; nothing elsewhere."""
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr, flush=True)


def table(headers: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Rows in aligned columns; the last column is not padded."""
    cells = [
        [str(header) for header in headers],
        *[["" if cell is None else one_line(str(cell)) for cell in row] for row in rows],
    ]
    widths = [max(len(row[column]) for row in cells) for column in range(len(headers))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells
    )


def shorten(text: str, most: int) -> str:
    """At most so many characters; an ellipsis stands for the rest."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def one_line(text: str) -> str:
    """A name that keeps to its line: one with a line feed would write the line of another."""
    return text.translate(_ON_ONE_LINE).translate(_SHOWN)


def _visible(text: str) -> str:
    return text.replace("\r\n", "\n").translate(_SHOWN)


class ProgressLine:
    """One line on standard error, redrawn in place until its block ends. Where standard error is no terminal, a new
    line every ten seconds.
    """

    def __init__(self, label: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._label = label
        self._clock = clock
        self._shown = sys.stderr.isatty()
        self._drawn_at = float("-inf") if self._shown else clock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Clear the line."""
        if self._shown:
            clear_line()

    def update(self, done: int, total: int, remark: str = "") -> None:
        """Show `done` of `total`."""
        now = self._clock()
        if not self._shown:
            if now - self._drawn_at >= _LINE_SECONDS:
                self._drawn_at = now
                note(f"{self._label} {done}/{total} {one_line(remark[:40])}".rstrip())
            return
        if done < total and now - self._drawn_at < _REDRAW_SECONDS:
            return
        self._drawn_at = now
        filled = _BAR_WIDTH * done // total if total else _BAR_WIDTH
        bar = "█" * filled + "░" * (_BAR_WIDTH - filled)
        line = f"{self._label} {bar} {done}/{total} {one_line(remark[:40])}"
        print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)
