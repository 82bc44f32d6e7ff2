"""Running headers, footers and page numbers: lines that come back at the same height of page after page; and tables of
contents, which stand with them.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from agentic_rag.adapters.parsing.pdf.contents_lines import contents_lines
from agentic_rag.adapters.parsing.pdf.page_words import PdfPage

_LINES_AT_EDGE = 3
_LEAST_LINES = 2 * _LINES_AT_EDGE
"""Lines of a page that has more than its edges."""
_LEAST_PAGES = 3
_LEAST_SHARE = 0.25
"""Pages that a running line stands on, by number and as a share of all."""
_LONGEST = 150
_APART = 1.4
"""By the usual distance of lines: how far a running line stands off the text."""
_SAME_HEIGHT = 6.0
"""Points by which a running line may move."""
_NUMBER = re.compile(r"\d{1,9}")
_WORD = re.compile(r"[^\W\d_]{3,}")
_COUNTING_WORDS = frozenset({"page", "seite", "página", "pagina", "strona"})

Place = tuple[int, int]
"""Page and line, both counted from 0."""


@dataclass(frozen=True, slots=True)
class _EdgeLine:
    place: Place
    rank: int
    """From the edge on."""
    base: float
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RunningLines:
    """The places of running lines; `first` are those that say more than a page's number for the first time. A table of
    contents says nothing for the first time.
    """

    all: frozenset[Place]
    first: frozenset[Place]


def running_lines(pages: Sequence[PdfPage]) -> RunningLines:
    """The running lines of a file, and the lines of its tables of contents."""
    groups: defaultdict[tuple[str, bool], list[_EdgeLine]] = defaultdict(list)
    for number, page in enumerate(pages):
        for at, rank, is_top in _edges(page):
            line = page.lines[at]
            numbers = tuple(int(one) for one in _NUMBER.findall(line.text))
            groups[_NUMBER.sub("#", line.text), is_top].append(_EdgeLine((number, at), rank, line.base, numbers))
    wanted = max(_LEAST_PAGES, _LEAST_SHARE * len(pages))
    found = set(contents_lines(pages))
    first: set[Place] = set()
    for (form, _), lines in groups.items():
        running = [line.place for line in _that_run(lines)]
        if len({page for page, _ in running}) >= wanted:
            found.update(running)
            if any(word.casefold() not in _COUNTING_WORDS for word in _WORD.findall(form)):
                first.add(min(running))
    return RunningLines(frozenset(found), frozenset(first))


def _edges(page: PdfPage) -> list[tuple[int, int, bool]]:
    """The lines at the top and the bottom of a page: their place and rank, and whether they are those at the top."""
    placed = sorted((-line.base, at) for at, line in enumerate(page.lines) if line.words and len(line.text) <= _LONGEST)
    if len(placed) < _LEAST_LINES:
        return []
    steps = [below[0] - above[0] for above, below in pairwise(placed)]
    apart = _APART * median([step for step in steps if step > 1] or [0.0])
    top, bottom = _count_apart(steps, apart), _count_apart(steps[::-1], apart)
    tops = [(at, rank, True) for rank, (_, at) in enumerate(placed[:top])]
    edges = tops + [(at, rank, False) for rank, (_, at) in enumerate(placed[::-1][:bottom])]
    return [edge for edge in edges if not page.lines[edge[0]].is_row]


def _count_apart(steps: Sequence[float], apart: float) -> int:
    """How many lines from the edge on stand apart from the text; the text's own first lines are none."""
    return max((at + 1 for at, step in enumerate(steps[:_LINES_AT_EDGE]) if step > apart), default=0)


def _that_run(lines: Sequence[_EdgeLine]) -> list[_EdgeLine]:
    """Those at the commonest height, or outermost on their pages, whose numbers stay or count with the pages."""
    height = Counter(round(line.base / _SAME_HEIGHT) for line in lines).most_common(1)[0][0] * _SAME_HEIGHT
    level = max(
        [line for line in lines if abs(line.base - height) <= _SAME_HEIGHT],
        [line for line in lines if line.rank == 0],
        key=len,
    )
    for place in range(len(level[0].numbers)):
        steps = Counter(line.numbers[place] - line.place[0] for line in level)
        same = Counter(line.numbers[place] for line in level)
        (step, counting), (value, fixed) = steps.most_common(1)[0], same.most_common(1)[0]
        level = [
            line
            for line in level
            if (line.numbers[place] - line.place[0] == step if counting >= fixed else line.numbers[place] == value)
        ]
    return level
