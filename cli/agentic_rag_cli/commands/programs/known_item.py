"""Makes a question from a sentence of the corpus, so that the corpus can answer it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from agentic_rag.documents.document import Document, DocumentStatus
from agentic_rag.documents.ports import SpanRequest
from agentic_rag.kernel.errors import NotFound
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_cli.in_process import System

OPENING_CHARACTERS = 20_000
DOCUMENTS_TRIED = 20

_LEAST_WORDS, _MOST_WORDS = 8, 30
_ASKED_WORDS = 14
_LEAST_PROSE = 0.6
"""Least share of lower-case words in a usable sentence: headings, tables of contents and signatures have less."""
_SENTENCE = re.compile(r"[^.!?\n|#]+(?:\n[^.!?\n|#]+)*[.!?](?=\s)")
_TELLING = re.compile(r"\b(?:\d[\d.,]*|[A-Z][a-z]{2,})\b")


@dataclass(frozen=True, slots=True)
class KnownItem:
    """A question and its source document."""

    question: str
    source_path: str


async def make_known_item(system: System, workspace: WorkspaceRef) -> KnownItem:
    """A question about the first document with a usable sentence. Errors: `NotFound` code NOTHING_TO_ASK."""
    ready = await system.documents(workspace, (DocumentStatus.READY,), DOCUMENTS_TRIED)
    for document in ready:
        question = question_from(await _opening(system, document))
        if question is not None:
            return KnownItem(question, document.source_path)
    raise NotFound(
        f"None of the first {len(ready)} READY documents holds a sentence to ask about: give one with --question.",
        code="NOTHING_TO_ASK",
    )


async def _opening(system: System, document: Document) -> str:
    """The beginning of the published text; empty when nothing is published."""
    if document.revision_id is None:
        return ""
    async with system.container.database.snapshot(document.workspace) as snapshot:
        spans = await snapshot.documents.revision_spans([SpanRequest(document.revision_id, 0, OPENING_CHARACTERS)])
    return spans[0].text if spans[0] is not None else ""


def question_from(text: str) -> str | None:
    """A question about the sentence with the most figures and names, the first of equals."""
    best = max(_sentences(text), key=lambda sentence: len(_TELLING.findall(sentence)), default=None)
    if best is None:
        return None
    asked = " ".join(best.rstrip(".!?").split()[:_ASKED_WORDS]).rstrip(",;:")
    return f"What is said about: {asked}?"


def _sentences(text: str) -> Iterator[str]:
    for found in _SENTENCE.finditer(text):
        sentence = " ".join(found.group().split())
        words = sentence.split()
        prose = sum(word.islower() for word in words)
        if _LEAST_WORDS <= len(words) <= _MOST_WORDS and sentence[0].isupper() and prose >= _LEAST_PROSE * len(words):
            yield sentence
