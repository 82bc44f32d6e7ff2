"""The state of a corpus that is read before each question."""

from __future__ import annotations

from dataclasses import dataclass

from agentic_rag.models.embedding.space import EmbeddingSpace
from agentic_rag.tenancy.access import ReadScope
from agentic_rag.workspaces.settings import RagConfig


@dataclass(frozen=True, slots=True)
class CorpusHead:
    """The newest corpus version, its active space (None before the first vector), the support below which answers
    become abstentions, the caller's read scope, and the search settings (None: the process's default).
    """

    version: int
    space: EmbeddingSpace | None
    support_threshold: float | None = None
    access: ReadScope = ReadScope()
    rag_config: RagConfig | None = None
