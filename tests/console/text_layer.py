"""Marked lines beside the text layer that pdf.js lays over a page in a browser: boxes as wide and as high."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from agentic_rag.answering.runs.page_image import MarkedLine
from tests.console.boxes import Box, Letters, merged
from tests.console.tours import program_and_folder

ENOUGH = 0.9
SAME_PLACE = 0.5


@dataclass
class Overlaps:
    """What was compared: lines of quotes, by the share of their union that two boxes have in common."""

    near: int = 0
    far: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    """Marks of which the better half is on no line of the quote in the layer."""
    unjudged: int = 0
    """Quotes with marks that the layer does not have at one place."""

    @property
    def judged(self) -> int:
        return self.near + len(self.far) + len(self.wrong)

    def add(self, marks: Sequence[MarkedLine], letters: Sequence[Box] | None, where: str) -> None:
        """Compare the marks of a quote with its letters in the layer; None where they are not at one place."""
        if letters is None:
            self.unjudged += 1
            return
        lines = [*merged(letters)]
        for mark in (Box(one.left, one.bottom, one.right, one.top) for one in marks):
            nearest = max(lines, key=mark.shared)
            shared = mark.shared(nearest)
            union = mark.area + nearest.area - shared
            if shared < SAME_PLACE * min(mark.area, nearest.area):
                self.wrong.append(f"{where} {mark} beside {nearest}")
            elif shared < ENOUGH * union:
                self.far.append(f"{shared / union:.2f} {where} {mark} beside {nearest}")
            else:
                self.near += 1
        for line in lines:
            if not any(line.shared(Box(one.left, one.bottom, one.right, one.top)) for one in marks):
                self.far.append(f"0.00 {where} nothing on {line}")


class TextLayers:
    """A browser that lays text layers."""

    def __init__(self, asked: IO[str], told: IO[str]) -> None:
        self._asked, self._told = asked, told

    def letters(self, path: Path, page: int) -> Letters | None:
        """The letters of a page, counted from 1, in the order of the layer; None where pdf.js opens no such page."""
        self._asked.write(json.dumps({"path": str(path), "page": page}) + "\n")
        self._asked.flush()
        spans = json.loads(self._told.readline())
        if spans is None:
            return None
        return Letters(
            [(letter, Box(*box)) for one in spans for letter, box in zip(one["text"], one["boxes"], strict=True)]
        )


@contextmanager
def text_layers() -> Iterator[TextLayers]:
    """Open it; skips where a program is missing."""
    node, chromium, folder = program_and_folder()
    process = subprocess.Popen(
        [node, str(folder / "layer.mjs")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), "CONSOLE_CHROMIUM": chromium},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield TextLayers(process.stdin, process.stdout)
    finally:
        process.stdin.close()
        process.wait(60)
        process.stdout.close()
