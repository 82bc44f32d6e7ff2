"""Retrievers for frameworks, a module each; install the extra of its name."""

from __future__ import annotations

from typing import Any

from agentic_rag_client.values import Passage


def metadata_of(passage: Passage) -> dict[str, Any]:
    """What a framework's document tells beside the text of a passage."""
    return {
        "source": passage.source_path,
        "title": passage.title,
        "source_id": passage.source_id,
        "chunk_id": passage.chunk_id,
        "start": passage.span.start,
        "end": passage.span.end,
        "page": passage.page,
        "heading": " / ".join(passage.heading_path),
        "similarity": passage.similarity,
        "flags": list(passage.flags),
        "recognised": passage.recognised,
    }
