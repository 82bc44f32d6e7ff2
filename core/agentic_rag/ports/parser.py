"""Reads the text and structure out of a file's bytes."""

from __future__ import annotations

from typing import Protocol

from agentic_rag.domain.documents import ParsedDocument


class Parser(Protocol):
    """Errors: `ParseFailed` with a code that says why; `Retryable` when the machinery, not the document, failed."""

    @property
    def version(self) -> str:
        """Changes whenever the same bytes may give another text: part of the revision id."""
        ...

    async def parse(self, content: bytes, file_name: str, media_type: str | None) -> ParsedDocument:
        """Parse `content`. `media_type` None means: decide from the name and the bytes."""
        ...

    async def aclose(self) -> None:
        """End child processes."""
        ...
