"""Citations judged anew: by the answer's text, its markers, and the stored text that each citation names.

Nothing that the product says of its own citations is read (`verified`, the self-check's shares).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import asyncpg

from agentic_rag.answering.answer import Answer, Citation, Outcome
from agentic_rag.bootstrap import Container
from agentic_rag.kernel.public_ids import NodeKind, decode
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_cli.in_process import operator_of
from agentic_rag_eval.citations import covered, markers
from agentic_rag_eval.metrics import Score
from tests.bench.reports import Row
from tests.quality.rows import at_least

_REVISIONS = """
SELECT revision_id, text FROM rag_revisions WHERE org_id = $1 AND workspace_id = $2 AND revision_id = ANY ($3::uuid[])
"""


@dataclass(frozen=True, slots=True)
class Judged:
    """What an answer's citations are worth: one value a citation or marker, one a sentence."""

    valid: tuple[float, ...]
    covered: tuple[float, ...]


def judge(answer: Answer, texts: Mapping[UUID, str]) -> Judged:
    """Judge the citations of an answer; `texts` are the stored texts of the revisions that it names.

    A citation is valid when its quote is the stored text at its place and its marker stands in the answer. A marker
    without a citation counts as an invalid citation.
    """
    if answer.outcome is Outcome.ABSTAINED:
        return Judged((), ())
    quotes = {one.marker: one.snippet for one in answer.citations}
    standing = markers(answer.text)
    valid = [float(_is_stored(one, texts) and one.marker in standing) for one in answer.citations]
    valid += [0.0 for number in standing if number not in quotes]
    return Judged(tuple(valid), tuple(covered(answer.text, quotes)))


def _is_stored(citation: Citation, texts: Mapping[UUID, str]) -> bool:
    text, span = texts.get(citation.revision_id), citation.source_span
    return bool(citation.snippet) and text is not None and text[span.start : span.end] == citation.snippet


async def judged(container: Container, workspace: WorkspaceRef, scores: Sequence[Score]) -> list[Judged]:
    """Judge the stored runs behind some scores."""
    answers: list[Answer] = []
    for one in scores:
        node = decode(one.record.run_id, NodeKind.RUN)
        run = await container.read_runs.get(operator_of(workspace.org_id), workspace, node.key)
        assert run is not None, "a run is not there after its answer"
        answers.append(run.answer)
    return await judged_answers(container, workspace, answers)


async def judged_answers(container: Container, workspace: WorkspaceRef, answers: Sequence[Answer]) -> list[Judged]:
    """Judge answers of a workspace against the texts stored in it."""
    found: list[Judged] = []
    connection = await asyncpg.connect(container.settings.stores.database_url)
    try:
        for answer in answers:
            revisions = [citation.revision_id for citation in answer.citations]
            rows = await connection.fetch(_REVISIONS, workspace.org_id, workspace.workspace_id, revisions)
            found.append(judge(answer, {row["revision_id"]: row["text"] for row in rows}))
    finally:
        await connection.close()
    return found


def citation_rows(found: Sequence[Judged]) -> list[Row]:
    """Both rows, over all citations and all sentences of all answers."""
    return [
        at_least("citation validity", [value for one in found for value in one.valid], 100),
        at_least("citation coverage", [value for one in found for value in one.covered], 98),
    ]
