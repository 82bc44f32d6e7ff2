"""What is asked of a corpus before each question."""

from __future__ import annotations

from dataclasses import dataclass

from agentic_rag.models.embedding.space import EmbeddingSpace
from agentic_rag.tenancy.access import ReadScope
from agentic_rag.workspaces.settings import RagConfig


@dataclass(frozen=True, slots=True)
class CorpusHead:
    """The newest corpus version, the space that answers questions at it (None before the first vector), the support
    below which it abstains, what the caller may read, and how it is searched (None: the process's default).
    """

    version: int
    space: EmbeddingSpace | None
    support_threshold: float | None = None
    access: ReadScope = ReadScope()
    rag_config: RagConfig | None = None
