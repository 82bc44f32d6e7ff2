"""Asks a stored run's question again, and tells what differs."""

from __future__ import annotations

from dataclasses import dataclass

from agentic_rag.answering.question import AnswerOptions, CacheMode, Question
from agentic_rag.answering.run import Run
from agentic_rag.kernel.errors import NotFound
from agentic_rag.kernel.public_ids import NodeKind
from agentic_rag_cli.listing import require_id, the_workspace
from agentic_rag_cli.output.answer_view import AnswerView
from agentic_rag_cli.session import Session


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that is not as it was."""

    what: str
    before: str
    after: str


async def ask_again(session: Session, workspace: str | None, run: str, *, newest: bool) -> tuple[Run, Run]:
    """The stored run, and the new one. Errors: `NotFound` code RUN_NOT_FOUND, those of asking (a corpus version that
    retention dropped).
    """
    run_id = require_id(run, NodeKind.RUN)
    chosen = (await the_workspace(session, workspace, run)).ref
    before = await session.run(chosen, run_id)
    if before is None:
        raise NotFound(f"There is no run {run}; `rag run list` shows them.", code="RUN_NOT_FOUND")
    question = Question(
        chosen,
        before.answer.debug.standalone_question or before.question,
        as_of=None if newest else before.versions.corpus_version,
        options=AnswerOptions(cache=CacheMode.BYPASS),
    )
    return before, await session.ask(question)


def differences(before: AnswerView, after: AnswerView) -> list[Difference]:
    """What a reader of both answers would see."""
    pairs = (
        ("outcome", before.outcome, after.outcome),
        ("answer", before.answer, after.answer),
        ("citations", _places(before), _places(after)),
        ("corpus version", str(before.corpus_version), str(after.corpus_version)),
    )
    return [Difference(what, old, new) for what, old, new in pairs if old != new]


def _places(shown: AnswerView) -> str:
    return "; ".join(one.place for one in shown.citations)
