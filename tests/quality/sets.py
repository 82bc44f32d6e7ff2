"""The question sets, ingested through the public path into workspaces that a later run finds again."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agentic_rag.ingestion.ingest_chunks import PlainTextDocument
from agentic_rag.settings import Settings
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_cli.commands.documents.ingestion import ingest_directory
from agentic_rag_cli.in_process import ACTOR, System
from agentic_rag_cli.processes.children import Children, silent
from agentic_rag_cli.wiring import Wiring
from agentic_rag_eval.dataset import load_corpus, load_dataset
from agentic_rag_eval.records import EvalDocument, EvalQuestion

DATA = Path(os.environ.get("AGENTIC_RAG_TEST_DATA") or Path(__file__).parents[3] / "shared" / "data")

MULTI_HOP = ("musique", "hotpotqa", "hotpotqa-dev100")
NOISE = "wiki-distractors"
POOL = "wiki-pool"
SINGLE_HOP = ("cranfield", "cisi", "scifact-2k", "fiqa-gold", "pubmedqa", "clapnq", "covidqa")
SPANS = "covidqa"
XQUAD = "xquad"
HALF_ANSWERABLE = "clapnq"


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """A corpus in a workspace and questions about it."""

    name: str
    workspace: WorkspaceRef
    questions: tuple[EvalQuestion, ...]

    @property
    def with_gold(self) -> tuple[EvalQuestion, ...]:
        """Those whose gold documents are known."""
        return tuple(one for one in self.questions if one.gold_ids)


def questions_of(name: str) -> list[EvalQuestion]:
    return load_dataset(_folder(name) / f"queries{_language(name)}.dev.jsonl")


def documents_of(name: str) -> list[EvalDocument]:
    return load_corpus(_folder(name) / f"corpus{_language(name)}.jsonl")


def _folder(name: str) -> Path:
    return DATA / (XQUAD if name.startswith(f"{XQUAD}-") else name)


def _language(name: str) -> str:
    """The part of the file names that says the language, where a folder has several."""
    return f".{name.removeprefix(f'{XQUAD}-')}" if name.startswith(f"{XQUAD}-") else ""


async def ingested(system: System, name: str, corpora: Sequence[str]) -> WorkspaceRef:
    """The workspace of that name with the documents of these corpora; what is there already is not embedded again."""
    workspace = (await system.ensure_workspace(name)).ref
    documents: dict[str, EvalDocument] = {}
    for corpus in corpora:
        for document in documents_of(corpus):
            documents.setdefault(document.document_id, document)
    texts = [PlainTextDocument(one.document_id, one.title or one.document_id, one.text) for one in documents.values()]
    ingest, profile = system.container.ingest_chunks, system.container.settings.ingestion.chunk_profile
    prepared = [await ingest.cut(text, profile) for text in texts]
    report = await ingest.run(workspace, prepared, ACTOR, lambda _: None)
    print(f"  {name}: {len(texts)} documents, {report.chunks} chunks, {report.embedded} embedded now", flush=True)
    return workspace


async def ingested_folder(system: System, settings: Settings, name: str, folder: Path) -> WorkspaceRef:
    """The workspace of that name with the files of a folder, read by a worker as users have them read."""
    async with Children(silent, settings.jobs.drain_seconds) as children:
        if not await system.worker_running():
            await Wiring().start_worker(children, settings)
        report = await children.guard(ingest_directory(system, name, folder, wait=True, progress=_unseen))
    print(f"  {name}: {report.summary()}", flush=True)
    return (await system.workspace(name)).ref


def _unseen(done: int, total: int, step: str) -> None:
    """Progress that nobody watches."""
