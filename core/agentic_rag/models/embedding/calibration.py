"""The support below which a workspace abstains, as it was calibrated in an embedding space."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from agentic_rag.models.embedding.similarity import SimilarityCalibration


class CalibrationSource(enum.Enum):
    """Whose questions a calibration asked."""

    CORPUS = "CORPUS"
    """Made from the workspace's own passages; they only raise the threshold above the default."""
    GIVEN = "GIVEN"
    """A dataset."""


@dataclass(frozen=True, slots=True)
class CalibratedLine:
    """A threshold, and what speaks for it."""

    threshold: float
    questions: int
    """Answerable questions that it was drawn from."""
    bound: float
    """A further question like them is abstained on with at most this probability: the finite-sample bound of conformal
    risk control, (questions below the threshold + 1) / (questions + 1).
    """
    abstained: int
    """Of `questions`, each judged by a threshold from the other half of them."""
    low: float
    """With `high` the exact 95 % interval of the share abstained on (Clopper, Pearson)."""
    high: float


@dataclass(frozen=True, slots=True)
class SupportCalibration:
    """What a calibration measured."""

    error: float
    """The share of answerable questions that it allows to be abstained on."""
    source: CalibrationSource
    pooled: CalibratedLine
    """For every question of a kind that has no line of its own."""
    chunks: int
    """Passages of the workspace then."""
    corpus_version: int
    measured_at: datetime
    kinds: Mapping[str, CalibratedLine] = field(default_factory=dict[str, CalibratedLine])
    """By kind of question; of the kinds with enough questions."""


@dataclass(frozen=True, slots=True)
class CalibrationDraft:
    """How far a calibration has come: the kind and the support of each question so far, in their order, and no text.
    Equal corpus versions give equal questions.
    """

    corpus_version: int
    supports: tuple[tuple[str, float | None], ...] = ()


NEVER_AGAIN = 2**31 - 1
"""More passages than a workspace holds."""


@dataclass(frozen=True, slots=True)
class CalibrationRecord:
    """What is stored of an embedding space's calibrations."""

    in_force: SupportCalibration | None = None
    trial: SupportCalibration | None = None
    """The newest that was only to measure."""
    again_at: int | None = None
    """The number of passages from which on the workspace is calibrated by itself again; None: it never was."""
    draft: CalibrationDraft | None = None
    similarity: SimilarityCalibration | None = None
    """The scale of similarity thresholds; None: the model's."""

    @property
    def threshold(self) -> float | None:
        """The pooled threshold in force; None: the process's default."""
        return None if self.in_force is None else self.in_force.pooled.threshold

    @property
    def kind_thresholds(self) -> tuple[tuple[str, float], ...]:
        """The thresholds in force by kind of question."""
        if self.in_force is None:
            return ()
        return tuple((kind, line.threshold) for kind, line in sorted(self.in_force.kinds.items()))
