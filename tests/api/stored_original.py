"""A product that holds one document and its original."""

from agentic_rag.documents.ports import Original
from tests.api.builders import NOW, Container, FakeBlobs, FakeStores, a_document, numbered

KEY = "documents/org/workspace/20260101T000000000000Z-0123456789ab-valves.pdf"


def holding(**changes: object) -> Container:
    """A container with one document and its original."""
    held = Original(bytes(32), KEY, 22, NOW)
    stores = FakeStores(documents={numbered(1): a_document(1, **changes)}, originals={numbered(1): [held]})
    return Container(database=stores, blobs=FakeBlobs({KEY: b"%PDF-1.7 whole content"}))
