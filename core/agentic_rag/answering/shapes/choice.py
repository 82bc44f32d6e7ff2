"""The trained choice among the answers that a part may be given."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from agentic_rag.answering.extraction.candidate_units import Subquery
from agentic_rag.answering.extraction.extractive import DraftSentence, ExcludedSpans, PartDraft
from agentic_rag.answering.shapes.candidate_signs import find_signs
from agentic_rag.answering.shapes.candidates import find_candidates
from agentic_rag.answering.shapes.question_kind import QuestionKind
from agentic_rag.retrieval.candidates import Passage

TREES = Path(__file__).with_name("choice.json")
"""Written by eval/training/train_choice.py: nested lists `[sign, most, low, high]`, where a leaf is a number."""

Tree = tuple[int, float, "Tree", "Tree"] | float


def choose_answer(
    kind: QuestionKind,
    part: Subquery,
    place: int,
    passages: Sequence[Passage],
    draft: PartDraft,
    excluded: ExcludedSpans,
    proposed: tuple[DraftSentence, ...] = (),
) -> tuple[DraftSentence, ...]:
    """The sentences of the candidate that the trees find best; of equal ones the first, which is the draft."""
    found = find_candidates(place, passages, draft, excluded, proposed)
    signs = find_signs(kind, part, passages, draft, found)
    scores = [score_signs(one, shipped_trees()) for one in signs]
    return found[scores.index(max(scores))].sentences


def score_signs(signs: Sequence[float], trees: Sequence[Tree]) -> float:
    """The sum of the leaves that the signs lead to."""
    total = 0.0
    for tree in trees:
        while isinstance(tree, (list, tuple)):
            tree = tree[2] if signs[tree[0]] <= tree[1] else tree[3]
        total += tree
    return total


@cache
def shipped_trees() -> tuple[Tree, ...]:
    """The trees of the package."""
    return tuple(json.loads(TREES.read_text(encoding="utf-8")))
