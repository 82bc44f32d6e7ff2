"""Chooses the blocks of a page that are its main content."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from itertools import groupby
from math import exp
from pathlib import Path
from statistics import fmean

from agentic_rag.adapters.parsing.pages.block_signs import Signs
from agentic_rag.documents.document import Block, BlockKind

TREES = Path(__file__).with_name("content_trees.json")
"""Written by eval/training/train_pages.py: nested lists `[sign, most, low, high]`, where a leaf is a number."""
CONTENT = 0.39
"""Chance from which a block is main content. Over the pages of the training set (28 November 2026), at .36, .39 and .4:
main content read 95.5, 95.0 and 94.9 %, furniture read 8.2, 7.7 and 7.7 %. No passage holds what is left out.
"""
_LEAST_LINKED = 3
"""Blocks with a link. A page with fewer has no menus around it: an exported document, which is read whole."""
_HEADING = 0.15
"""The same of a heading right before a block that is kept, and of a table that holds data."""
_LEAST_WORDS = 30
"""A page of which less would be left is read whole."""

Tree = tuple[int, float, "Tree", "Tree"] | float


def choose_content(
    blocks: Sequence[Block],
    find_signs: Callable[[], Sequence[Signs]],
    words: Sequence[int],
    links: Sequence[float],
    parents: Sequence[int],
    trees: Sequence[Tree] | None = None,
) -> list[bool]:
    """Whether each block is kept. `words` and `links` are the count of words and the share of letters in links;
    `parents` tells which blocks stand in the same element. Signs are found where they decide; without `trees` those of
    the package do.
    """
    if sum(share > 0 for share in links) < _LEAST_LINKED:
        return [True] * len(blocks)
    trees = shipped_trees() if trees is None else trees
    chances = _of_lists(blocks, parents, [chance_of(one, trees) for one in find_signs()])
    kept = [one >= CONTENT for one in chances]
    for place in reversed(range(len(blocks))):
        block = blocks[place]
        if kept[place] or chances[place] < _HEADING:
            continue
        is_table = block.kind is BlockKind.TABLE and links[place] < 0.5
        heads = block.kind is BlockKind.HEADING and place + 1 < len(blocks) and kept[place + 1]
        kept[place] = is_table or heads
    if sum(count for count, keeps in zip(words, kept, strict=True) if keeps) < _LEAST_WORDS:
        return [True] * len(blocks)
    return kept


def _of_lists(blocks: Sequence[Block], parents: Sequence[int], chances: Sequence[float]) -> list[float]:
    """The chances, of items of one list their mean: a list is main content or furniture as a whole."""
    levelled: list[float] = []
    lists = groupby(range(len(blocks)), lambda place: (blocks[place].kind, parents[place]))
    for (kind, _), places in lists:
        held = [chances[place] for place in places]
        levelled += [fmean(held)] * len(held) if kind is BlockKind.LIST_ITEM else held
    return levelled


def chance_of(signs: Signs, trees: Sequence[Tree]) -> float:
    """The chance that a block with these signs is main content."""
    total = 0.0
    for tree in trees:
        while isinstance(tree, (list, tuple)):
            tree = tree[2] if signs[tree[0]] <= tree[1] else tree[3]
        total += tree
    return 1 / (1 + exp(-max(-50.0, min(50.0, total))))


@cache
def shipped_trees() -> tuple[Tree, ...]:
    """The trees of the package."""
    return tuple(json.loads(TREES.read_text(encoding="utf-8")))
