"""A server process of the bench: the real one, or the same application with a canned answer in place of the pipeline.

`python -m tests.bench.server_process real|canned PORT`, configured by the environment like `rag serve`.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

from agentic_rag.answering.answer import Answer, AnswerDebug, Citation, Outcome, TextSpan
from agentic_rag.answering.gate_decision import Directives, GateDecision
from agentic_rag.answering.question import Question
from agentic_rag.answering.run import CacheOutcome, Run, RunVersions, StageRecord
from agentic_rag.answering.state_machine import Stage
from agentic_rag.bootstrap import Container
from agentic_rag.settings import load_settings
from agentic_rag.tenancy.principals import Principal
from agentic_rag_server.main import run_server, server_options, server_parts
from agentic_rag_server.parts import ServerParts
from agentic_rag_server.run import run

SENTENCE = "The rotor of unit {n} was replaced in the spring after the inspection found a crack in its hub. [{n}]"
CITATIONS = 10
STAGES = tuple(
    StageRecord(stage.value, place / 1000, 0.001, "ok") for place, stage in enumerate(Stage) if stage is not Stage.DONE
)
"""The bench asks every answer for them: one without would be a smaller reply."""


def canned_answer() -> Answer:
    """A constant answer of ten sentences with a citation each."""
    sentences = [SENTENCE.format(n=n) for n in range(1, CITATIONS + 1)]
    citations: list[Citation] = []
    at = 0
    for number, sentence in enumerate(sentences, 1):
        citations.append(
            Citation(
                marker=number,
                document_id=UUID(int=number),
                revision_id=UUID(int=number),
                chunk_id=UUID(int=number),
                ordinal=number,
                title="Maintenance log",
                source_path=f"logs/{number}.md",
                url=None,
                snippet=sentence,
                source_span=TextSpan(100 * number, 100 * number + len(sentence)),
                answer_spans=(TextSpan(at, at + len(sentence)),),
                page=None,
                line_start=number,
                line_end=number,
                heading_path=("Log",),
                score=0.9,
                arms=(),
                origin="corpus",
                verified=True,
            )
        )
        at += len(sentence) + 1
    gate = GateDecision(Directives(True), "retrieve", 1.0, {}, (), (), "canned", "on")
    return Answer(" ".join(sentences), Outcome.GROUNDED, None, tuple(citations), (), gate, AnswerDebug())


class CannedAnswer:
    """Answers every question with the same run."""

    def __init__(self) -> None:
        self._answer = canned_answer()

    async def ask(self, principal: Principal, question: Question) -> Run:
        return Run(
            workspace=question.workspace,
            run_id=UUID(int=1),
            trace_id="0" * 32,
            question=question.text,
            subject=principal.subject,
            created_at=datetime(2026, 1, 1, tzinfo=UTC),
            seconds=0.0,
            cache=CacheOutcome.MISS,
            versions=RunVersions(1, 1, None, "canned", "canned"),
            answer=self._answer,
            stages=STAGES,
        )


def main() -> None:
    kind, port = sys.argv[1], sys.argv[2]
    settings = load_settings(overrides={"AGENTIC_RAG_PORT": port})
    if kind == "real":
        run_server(settings)
        return

    async def open_parts() -> ServerParts:
        container = Container(settings)
        await container.first_access.ensure_organisation()
        return replace(server_parts(container), identity=container.server_identity, answer=CannedAnswer())

    run(open_parts, server_options(settings))


if __name__ == "__main__":
    main()
