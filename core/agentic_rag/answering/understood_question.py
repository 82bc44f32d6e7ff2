"""A question as a run answers it: put so that it stands alone, then judged, planned and embedded."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agentic_rag.answering.gate.signals import QuestionSigns
from agentic_rag.answering.gate_decision import GateDecision
from agentic_rag.answering.plan import AnswerType, Plan, SubQuestion
from agentic_rag.answering.query.standalone import make_standalone
from agentic_rag.answering.question import Question
from agentic_rag.kernel.text import fold_text


@dataclass(frozen=True, slots=True)
class UnderstoodQuestion:
    """The question of a run, from the cache key to the search. Fields without a value wait for their stage."""

    asked: Question
    """The request of the caller."""
    written: str
    """The words of the caller, folded."""
    text: str
    """The question so that it means the same without the conversation."""
    is_follow_up: bool
    """`written` needs the conversation."""
    signs: QuestionSigns | None = None
    """What it says by itself, before a tool or a model puts it otherwise."""
    gate: GateDecision | None = None
    plan: Plan | None = None
    searches: tuple[str, ...] = ()
    """The text to search for, one per sub-question."""
    hyde_text: str | None = None
    """A hypothetical passage, embedded beside the question."""
    vectors: tuple[NDArray[np.float32], ...] = ()
    """One per search; empty without an embedder. A sub-question that waits for another has the vector of `text`."""
    whole_vector: NDArray[np.float32] | None = None
    """The vector of `text` for a divided question; None without an embedder."""

    @property
    def sub_questions(self) -> tuple[SubQuestion, ...]:
        """The parts of the question; the question itself before it is planned."""
        return self.plan.sub_questions if self.plan else (SubQuestion(self.text),)

    @property
    def answer_type(self) -> AnswerType:
        """The kind of answer that the plan expects."""
        return self.plan.answer_type if self.plan else AnswerType.FACT

    @property
    def allows_retrieval(self) -> bool:
        """True unless the gate keeps the run from the corpus."""
        return self.gate is not None and self.gate.directives.use_retrieval


def understand(question: Question) -> UnderstoodQuestion:
    """The question by rules, after its conversation. Pure."""
    written = fold_text(question.text)
    text = make_standalone(written, question.history)
    return UnderstoodQuestion(question, written, text, text != written)
