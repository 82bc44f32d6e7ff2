"""Rows of figures and names, which say neither why something is so nor whether something happened."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentic_rag.answering.extraction.answer_type_match import gives_reason
from agentic_rag.answering.extraction.candidate_units import CandidateUnit, Subquery, column_names
from agentic_rag.answering.extraction.text_units import UnitKind
from agentic_rag.answering.shapes.question_kind import QuestionKind
from agentic_rag.language.tables import is_row, split_cells
from agentic_rag.retrieval.candidates import Passage

_ASKS_WHAT_HAPPENED = re.compile(r"^(?:did|was|were|has|have|had)\b", re.IGNORECASE)
_TELLS_WHY = re.compile(r"\b(?:reasons?|causes?|why|because|purpose|due|notes?|comments?|remarks?)\b", re.IGNORECASE)
"""What a column is called that says why, or a cell has."""
_WORD = re.compile(r"[^\W\d_]{3,}")


def without_bare_rows(
    part: Subquery, kind: QuestionKind, units: Sequence[CandidateUnit], passages: Sequence[Passage]
) -> list[CandidateUnit]:
    """The units without the rows of tables that cannot answer by their form, where others are left: to a question for a
    reason those that give none, to one whether something happened those that have figures alone behind what they name.
    """
    if kind is QuestionKind.REASON:
        kept = [one for one in units if not _gives_no_reason(one, passages[one.passage])]
    elif kind is QuestionKind.YES_NO and _ASKS_WHAT_HAPPENED.match(part.text):
        kept = [one for one in units if not _has_figures_alone(one, passages[one.passage])]
    else:
        return list(units)
    return kept or list(units)


def _gives_no_reason(unit: CandidateUnit, passage: Passage) -> bool:
    row = passage.chunk.text[unit.start : unit.end]
    if unit.kind is not UnitKind.TABLE_ROW or not is_row(row):
        return False
    return not (gives_reason(row) or _TELLS_WHY.search(f"{column_names(passage, unit.start)} {row}"))


def _has_figures_alone(unit: CandidateUnit, passage: Passage) -> bool:
    row = passage.chunk.text[unit.start : unit.end]
    if unit.kind is not UnitKind.TABLE_ROW or not is_row(row):
        return False
    return not any(map(_WORD.search, [one for one in split_cells(row) if one][1:]))
