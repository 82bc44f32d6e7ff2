"""Files of a source that moved: the same content at another path stays the same document."""

from __future__ import annotations

import hashlib
import posixpath
from collections.abc import Mapping, Sequence

from agentic_rag.documents.document import Document
from agentic_rag.ingestion.ports import UNKNOWN_SIZE, SourceConnector, SourceItem
from agentic_rag.ingestion.submit import CONTENT_PROVENANCE
from agentic_rag.kernel.errors import DependencyUnavailable, InvalidInput, NotFound, PolicyRefused, Retryable


async def find_moves(
    source: SourceConnector, gone: Mapping[str, Document], new: Sequence[SourceItem]
) -> dict[str, Document]:
    """By new path the document that stood elsewhere with the very same bytes. Only files of a size that is gone are
    read; of several equal ones, one with the same name goes first.
    """
    waiting: dict[bytes, list[Document]] = {}
    for _, document in sorted(gone.items()):
        digest = _content_of(document)
        if digest is not None and document.size:
            waiting.setdefault(digest, []).append(document)
    sizes = {UNKNOWN_SIZE} | {one.size for documents in waiting.values() for one in documents}
    moves: dict[str, Document] = {}
    for item in new:
        if not waiting:
            break
        digest = item.content_hash or (await _digest(source, item) if item.size in sizes else None)
        candidates = waiting.get(digest, []) if digest else []
        if digest and candidates:
            name = posixpath.basename(item.path)
            candidates.sort(key=lambda one: one.file_name == name)
            moves[item.path] = candidates.pop()
            if not candidates:
                del waiting[digest]
    return moves


def needs_new_chunks(document: Document, path: str) -> bool:
    """Whether a moved document's new name may mean another loader, or another title where its text states none."""
    stem, suffix = posixpath.splitext(document.file_name)
    new_stem, new_suffix = posixpath.splitext(posixpath.basename(path))
    return suffix != new_suffix or (stem != new_stem and document.title == stem)


def _content_of(document: Document) -> bytes | None:
    registered = document.provenance.get(CONTENT_PROVENANCE)
    return document.content_hash if registered is None else bytes.fromhex(registered)


async def _digest(source: SourceConnector, item: SourceItem) -> bytes | None:
    try:
        content = await source.read(item)
    except (NotFound, DependencyUnavailable, Retryable, InvalidInput, PolicyRefused):
        return None  # Handing it over meets the same and reports it.
    return None if content is None else hashlib.sha256(content.data).digest()
