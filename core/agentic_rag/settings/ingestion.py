"""Settings of getting documents in."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta

from agentic_rag.settings.variable import Env

DEFAULT_CORPUS = Path("simulated_ingestion")


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestionConfig:
    """What is ingested, and how much of the machine it may use."""

    corpus_dir: Annotated[Path, Env("AGENTIC_RAG_CORPUS_DIR")] = DEFAULT_CORPUS
    """The directory `rag ingest` reads without --source."""
    chunk_profile: Annotated[Literal["default", "small", "agent"], Env("AGENTIC_RAG_CHUNK_PROFILE")] = "default"
    """default 512/64 tokens, small 256/32 tokens, agent 1000/200 characters."""
    parser_memory_mb: Annotated[int, Env("AGENTIC_RAG_PARSER_MEMORY_MB"), Meta(ge=64)] = 512
    """Memory limit of a parsing child."""
    max_upload_bytes: Annotated[int, Env("AGENTIC_RAG_MAX_UPLOAD_BYTES"), Meta(ge=1024)] = 26_214_400
    """Largest uploaded file (25 MB)."""
