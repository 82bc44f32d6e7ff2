"""An answer as the command line shows it, whether it came from this process or from a server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from textwrap import fill, indent
from typing import Any
from uuid import UUID

from agentic_rag.answering.answer import Citation
from agentic_rag.answering.run import Run
from agentic_rag.kernel.dependency import Dependency
from agentic_rag.kernel.public_ids import NodeKind, encode
from agentic_rag_cli.output.path_view import HopView, hop_json, path_text, view_hop

_WIDTH = 100


@dataclass(frozen=True, slots=True)
class CitationView:
    """A quoted span; pages and lines count from 1."""

    marker: int
    source_path: str
    title: str
    page: int | None
    line_start: int
    line_end: int
    snippet: str
    score: float
    verified: bool
    document_id: str
    read_at: str | None = None
    """When the cited text was read from its source, ISO 8601."""
    path: tuple[HopView, ...] = ()

    @property
    def place(self) -> str:
        """File with page or lines, as one would say it."""
        if self.page is not None:
            return f"{self.source_path}, page {self.page}"
        if self.line_end == self.line_start:
            return f"{self.source_path}, line {self.line_start}"
        return f"{self.source_path}, lines {self.line_start}–{self.line_end}"


@dataclass(frozen=True, slots=True)
class AnswerView:
    """Seconds are wall time; `retrieved` are the source paths of the fused candidates, best first, each once."""

    question: str
    answer: str
    outcome: str
    abstention_reason: str | None
    abstention_explanation: str | None
    nearest: tuple[CitationView, ...]
    citations: tuple[CitationView, ...]
    degraded: tuple[str, ...]
    run_id: str
    corpus_version: int
    cache: str
    seconds: float
    stage_seconds: Mapping[str, float]
    retrieved: tuple[str, ...]
    citation_coverage: float
    standalone: str | None = None
    """What a follow-up question was read as."""


def view_run(run: Run, paths: Mapping[UUID, str]) -> AnswerView:
    """A run of this process; `paths` names the documents behind its candidates."""
    answer, workspace_id = run.answer, run.workspace.workspace_id
    check = answer.debug.self_check
    seen = dict.fromkeys(paths[c.document_id] for c in answer.debug.candidates if c.document_id in paths)
    abstention = answer.abstention
    return AnswerView(
        question=run.question,
        answer=answer.text,
        outcome=answer.outcome.value,
        abstention_reason=abstention.reason.value if abstention else None,
        abstention_explanation=abstention.explanation if abstention else None,
        nearest=tuple(_view_citation(one, workspace_id) for one in abstention.nearest) if abstention else (),
        citations=tuple(_view_citation(one, workspace_id) for one in answer.citations),
        degraded=tuple(one.value for one in answer.degraded),
        run_id=encode(NodeKind.RUN, workspace_id, run.run_id),
        corpus_version=run.versions.corpus_version,
        cache=run.cache.name,
        seconds=run.seconds,
        stage_seconds={stage.stage: stage.seconds for stage in run.stages},
        retrieved=tuple(seen),
        citation_coverage=check.citation_coverage if check else 0.0,
        standalone=answer.debug.standalone_question,
    )


def _view_citation(citation: Citation, workspace_id: UUID) -> CitationView:
    return CitationView(
        marker=citation.marker,
        source_path=citation.source_path,
        title=citation.title,
        page=citation.page,
        line_start=citation.line_start,
        line_end=citation.line_end,
        snippet=citation.snippet,
        score=citation.score,
        verified=citation.verified,
        document_id=encode(NodeKind.DOCUMENT, workspace_id, citation.document_id),
        read_at=None if citation.read_at is None else citation.read_at.isoformat(),
        path=tuple(view_hop(hop, workspace_id) for hop in citation.path),
    )


def answer_json(shown: AnswerView) -> dict[str, Any]:
    """The JSON form; its field names are stable and those of the GraphQL API where both have them."""
    return {
        "question": shown.question,
        "answer": shown.answer,
        "outcome": shown.outcome,
        "abstention": None
        if shown.abstention_reason is None
        else {
            "reason": shown.abstention_reason,
            "explanation": shown.abstention_explanation,
            "nearest": [_citation_json(one) for one in shown.nearest],
        },
        "citations": [_citation_json(one) for one in shown.citations],
        "degraded": list(shown.degraded),
        "runId": shown.run_id,
        "corpusVersion": shown.corpus_version,
        "cache": shown.cache,
        "seconds": shown.seconds,
        "stageSeconds": dict(shown.stage_seconds),
        "standaloneQuestion": shown.standalone,
    }


def _citation_json(citation: CitationView) -> dict[str, Any]:
    return {
        "marker": citation.marker,
        "sourcePath": citation.source_path,
        "title": citation.title,
        "page": citation.page,
        "lineStart": citation.line_start,
        "lineEnd": citation.line_end,
        "snippet": citation.snippet,
        "score": citation.score,
        "verified": citation.verified,
        "documentId": citation.document_id,
        "readAt": citation.read_at,
        "path": [hop_json(hop) for hop in citation.path],
    }


def answer_text(shown: AnswerView) -> str:
    """The answer with numbered citations, or the abstention with its reason and the nearest passages."""
    parts: list[str] = [] if shown.standalone is None else [_wrap(f"Read as: {shown.standalone}")]
    if shown.abstention_reason is None:
        parts.append(_wrap(shown.answer))
        if shown.outcome != "GROUNDED":
            parts.append(f"({shown.outcome.lower().replace('_', ' ')})")
        parts += [_citation_text(one, dated=shown.outcome == "CONFLICTING") for one in shown.citations]
    else:
        parts.append(_wrap(f"No answer ({shown.abstention_reason}): {shown.abstention_explanation}"))
        if shown.nearest:
            parts.append("The nearest passages:")
        parts += [_citation_text(one) for one in shown.nearest]
    if shown.degraded:
        parts.append(f"Degraded, missing: {', '.join(map(_missing, shown.degraded))}")
    return "\n\n".join(part for part in parts if part)


def _missing(part: str) -> str:
    return f"{part} ({'rag graph status' if part == Dependency.GRAPH.value else 'rag doctor'} says why)"


def _citation_text(citation: CitationView, *, dated: bool = False) -> str:
    proof = "verified" if citation.verified else "NOT VERIFIED"
    quoted = indent(fill(f"“{' '.join(citation.snippet.split())}”", _WIDTH - 4), "    ")
    read = f", read {citation.read_at[:10]}" if dated and citation.read_at else ""
    head = f"[{citation.marker}] {citation.place}{read}  (score {citation.score:.2f}, {proof})"
    reached = [f"    reached: {path_text(citation.path)}"] if citation.path else []
    return "\n".join((head, quoted, *reached))


def _wrap(text: str) -> str:
    return "\n".join(fill(line, _WIDTH) for line in text.splitlines())
