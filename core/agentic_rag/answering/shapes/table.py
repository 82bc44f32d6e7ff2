"""What an answer looks like, by the kind of the question: one row a kind."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from agentic_rag.answering.extraction.candidate_units import Subquery
from agentic_rag.answering.extraction.extractive import DraftSentence, ExcludedSpans, PartDraft
from agentic_rag.answering.shapes.choice import choose_answer
from agentic_rag.answering.shapes.compared import compared_rows, row_of_each_issue
from agentic_rag.answering.shapes.extreme import extreme_row
from agentic_rag.answering.shapes.forms import (
    answered_before,
    answered_whole,
    defining_sentence,
    documents_with_it,
    value_with_exception,
    with_exception,
)
from agentic_rag.answering.shapes.items import all_items
from agentic_rag.answering.shapes.question_kind import QuestionKind
from agentic_rag.answering.shapes.steps import whole_steps
from agentic_rag.answering.shapes.summary import summing_section
from agentic_rag.answering.siblings.left_out import with_rest_of_list
from agentic_rag.retrieval.candidates import Passage

Form = Callable[[Subquery, int, Sequence[Passage], PartDraft, ExcludedSpans], tuple[DraftSentence, ...]]
"""Makes the sentences of a part in one form; none where the passages do not have it."""


Choice = Callable[
    [QuestionKind, Subquery, int, Sequence[Passage], PartDraft, ExcludedSpans, tuple[DraftSentence, ...]],
    tuple[DraftSentence, ...],
]
"""Chooses among the answers around the units that a model read and the one that a form proposes."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How many sentences of one place at most, and the forms to try before, in order."""

    sentences: int
    forms: tuple[Form, ...] = (answered_before,)
    proposals: tuple[Form, ...] = ()
    """Forms after those that are right less often: where a model read the units, they propose an answer only."""


SHAPES: Mapping[QuestionKind, Shape] = {
    QuestionKind.VALUE: Shape(2, (extreme_row, compared_rows, answered_before, value_with_exception)),
    QuestionKind.STEPS: Shape(2, (), (answered_whole, whole_steps)),
    QuestionKind.LIST: Shape(6, (extreme_row,), (answered_whole, all_items)),
    QuestionKind.COMPARISON: Shape(4, (extreme_row, compared_rows, row_of_each_issue)),
    QuestionKind.YES_NO: Shape(3, (answered_before, with_exception)),
    QuestionKind.DOCUMENTS: Shape(2, (documents_with_it,)),
    QuestionKind.SUMMARY: Shape(3, (), (summing_section,)),
    QuestionKind.DEFINITION: Shape(2, (defining_sentence, answered_before)),
    QuestionKind.REASON: Shape(3),
    QuestionKind.FACT: Shape(2, (extreme_row,), (answered_whole,)),
}


_ASKS_TWICE = re.compile(
    r"\band (?:(?:from|by|to|in|at|on|for) )?"
    r"(?:who|whom|what|when|where|why|which|how|do|does|did|is|are|can|may|must|will|should)\b",
    re.IGNORECASE,
)
SECOND_QUESTION = 2
"""Sentences more where an undivided question asks for two things."""


def most_sentences(kind: QuestionKind, question: str) -> int:
    """How many sentences a part has at most, where none of the forms of its kind is found."""
    return SHAPES[kind].sentences + (SECOND_QUESTION if asks_twice(question) else 0)


def asks_twice(question: str) -> bool:
    """True for a question that asks for two things and is not divided."""
    return _ASKS_TWICE.search(question) is not None


def shape_part(
    kind: QuestionKind,
    part: Subquery,
    place: int,
    passages: Sequence[Passage],
    draft: PartDraft,
    excluded: ExcludedSpans,
    choose: Choice = choose_answer,
) -> PartDraft:
    """The draft in the first form that its passages have; where they have none, in the first that is proposed or, if a
    model read the units of a draft with sentences, as it is chosen.
    """
    if draft.conflicting:
        return draft

    def first_of(forms: Sequence[Form]) -> tuple[DraftSentence, ...]:
        found = (form(part, place, passages, draft, excluded) for form in forms)
        return next((sentences for sentences in found if sentences), ())

    shape = SHAPES[kind]
    sentences = first_of(shape.forms)
    if not sentences:
        sentences = first_of(shape.proposals)
        if draft.read and draft.sentences:
            sentences = choose(kind, part, place, passages, draft, excluded, sentences)
    sentences = with_rest_of_list(part, kind, sentences or draft.sentences, passages, excluded)
    return replace(draft, sentences=sentences)
