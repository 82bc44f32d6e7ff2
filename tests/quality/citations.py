"""Citations judged anew: by the answer's text, its markers, and the stored text that each citation names.

Nothing that the product says of its own citations is read (`verified`, the self-check's shares).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import asyncpg

from agentic_rag.answering.answer import Answer, Citation, Outcome
from agentic_rag.bootstrap import Container
from agentic_rag.kernel.public_ids import NodeKind, decode
from agentic_rag.language.sentences import sentence_spans
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_cli.in_process import operator_of
from agentic_rag_eval.metrics import Score
from tests.bench.reports import Row
from tests.quality.rows import at_least

_MARKED = re.compile(r"(.*?)(?: \[\d+\])* ((?:\[\d+\])+)(?=\s|\Z)", re.DOTALL)
"""A sentence and its markers. Numbers in brackets before them are the source's own."""
_MARKER = re.compile(r"\[(\d+)\]")
_LAYOUT = re.compile(r"[*_`|]|(?<!\S)[-—–](?=\s)|[:;.](?=[\s*_`|]|\Z)|\s")
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
    without a citation counts as an invalid citation. A sentence is covered when a marker with a citation follows it,
    or when the quotes of the next markers hold it word for word. Marks of emphasis and of list items are no words; a
    row of a table counts as its cells in order, each alone or after the head of its column.
    """
    if answer.outcome is Outcome.ABSTAINED:
        return Judged((), ())
    by_marker = {one.marker: one for one in answer.citations}
    standing = {int(one) for found in _MARKED.finditer(answer.text) for one in _MARKER.findall(found[2])}
    valid = [float(_is_stored(one, texts) and one.marker in standing) for one in answer.citations]
    valid += [0.0 for number in standing if number not in by_marker]
    return Judged(tuple(valid), tuple(_covered(answer.text, by_marker)))


def _is_stored(citation: Citation, texts: Mapping[UUID, str]) -> bool:
    text, span = texts.get(citation.revision_id), citation.source_span
    return bool(citation.snippet) and text is not None and text[span.start : span.end] == citation.snippet


def _covered(text: str, by_marker: Mapping[int, Citation]) -> list[float]:
    covered: list[float] = []
    end = 0
    for found in _MARKED.finditer(text):
        quotes = [by_marker[int(one)] for one in _MARKER.findall(found[2]) if int(one) in by_marker]
        *before, last = _sentences(found[1]) or [""]
        covered += [float(any(_stands_in(one, quote.snippet) for quote in quotes)) for one in before]
        covered += [float(bool(quotes))] if last else []
        end = found.end()
    return covered + [0.0 for _ in _sentences(text[end:])]


def _sentences(text: str) -> list[str]:
    lines = [line for start, end in sentence_spans(text) for line in text[start:end].splitlines()]
    pieces = [line.strip(" -") for line in lines]
    return [one for one in pieces if re.search(r"\w", one)]


def _stands_in(sentence: str, quote: str) -> bool:
    shown = _folded(sentence)
    return shown in _folded(quote) or any(shown == row for row in _rows_of(quote))


def _rows_of(quote: str) -> Iterator[str]:
    """Each row of the quoted tables as its cells, and as its cells with the heads of their columns."""
    heads: list[str] = []
    for line in quote.splitlines():
        cells = [_folded(cell) for cell in line.strip().strip("|").split("|")]
        if len(cells) < 2:
            heads = []
            continue
        heads = heads or cells
        yield "".join(cells)
        yield cells[0] + "".join(head + cell for head, cell in zip(heads[1:], cells[1:], strict=False))


def _folded(text: str) -> str:
    """The text without spaces and marks of layout; a link that was made harmless is whole again."""
    return _LAYOUT.sub("", text.replace("[:]", ":").replace("[.]", "."))


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
