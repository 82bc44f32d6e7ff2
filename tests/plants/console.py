"""The lies of `make console`, by row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tests.plants import Mutant, Patch


def _one_line_down(patch: Patch) -> None:
    from agentic_rag.adapters.parsing.pdf import quoted_lines

    whole = quoted_lines._lines

    def lying(boxes):
        for line in whole(boxes):
            height = line.top - line.bottom
            yield replace(line, bottom=line.bottom - 1.5 * height, top=line.top - 1.5 * height)

    patch(quoted_lines, "_lines", lying)


MUTANTS: Mapping[str, Mutant] = {
    "marks": Mutant("marks lie a line too low", _one_line_down, "marks on another line"),
}
