"""What the published figures of similarity thresholds are made of."""

from __future__ import annotations

import numpy as np
from eval.training.measure_similarity import ThresholdFigures, figures_at

from agentic_rag.models.embedding.similarity import AskedSimilarity

RIGHT = AskedSimilarity((0.6, 0.2), 0.6, is_first_gold=True)
WRONG = AskedSimilarity((0.3,), 0.5, is_first_gold=False)


def foreign(*cosines: float) -> list[AskedSimilarity]:
    return [AskedSimilarity((), one, is_first_gold=False) for one in cosines]


def test_recall_counts_gold_documents_and_the_foreign_share_questions() -> None:
    found = figures_at([RIGHT, WRONG], foreign(0.1, 0.1, 0.1, 0.4), 0.25)

    assert (found.recall, found.foreign) == (2 / 3, 0.25)


def test_foreign_questions_count_together_as_much_as_own_ones() -> None:
    everything = figures_at([RIGHT, WRONG], foreign(*[0.1] * 50), -np.inf)

    assert everything == ThresholdFigures(1.0, 0.25, 1.0)
    assert figures_at([RIGHT, WRONG], foreign(*[0.1] * 50), 0.25).precision == 0.5


def test_where_nothing_passes_nothing_is_right() -> None:
    assert figures_at([RIGHT, WRONG], foreign(0.1), 0.9) == ThresholdFigures(0.0, 0.0, 0.0)
