"""Ready-made chunks: published in batches, paid once, safe to run again."""

import pytest
from tests.integration.jobs.data_plane import DataPlane
from tests.memory_store.compute import InlineCompute

from agentic_rag.documents.document import DocumentStatus
from agentic_rag.ingestion.analysis.analyse import TextAnalysis
from agentic_rag.ingestion.ingest_chunks import ChunkedDocument, IngestChunks, PlainTextDocument
from agentic_rag.kernel.errors import InvalidInput, SpaceMismatch
from agentic_rag.language.token_estimate import estimate_tokens
from agentic_rag.models.embedding.space import EmbeddingSpace

pytestmark = [pytest.mark.integration, pytest.mark.network]


def use_case(plane: DataPlane, batch_chunks: int = 10) -> IngestChunks:
    return IngestChunks(
        plane.database, plane.embedders, TextAnalysis(estimate_tokens, InlineCompute()), batch_chunks=batch_chunks
    )


def documents(count: int, chunks: int = 3, word: str = "water") -> list[ChunkedDocument]:
    def texts(n: int) -> tuple[str, ...]:
        return tuple(f"Text {part} of {n} is about {word}." for part in range(chunks))

    return [ChunkedDocument(f"{n}.md", f"Document {n}", texts(n)) for n in range(count)]


async def test_prepared_chunks_become_ready_documents_in_batches(outbox: DataPlane) -> None:
    seen: list[int] = []

    report = await use_case(outbox).run(outbox.workspace, documents(12), "tester", seen.append)

    assert (report.documents, report.chunks, report.embedded, report.kept) == (12, 36, 36, 0)
    assert report.version == 4
    assert seen[-1] == 36
    assert await outbox.rows("rag_chunks") == await outbox.rows("rag_embeddings") == 36
    document = await outbox.document("3.md")
    assert document is not None
    assert (document.status, document.title, document.chunk_count) == (DocumentStatus.READY, "Document 3", 3)


async def test_the_same_again_pays_nothing_and_publishes_nothing(outbox: DataPlane) -> None:
    await use_case(outbox).run(outbox.workspace, documents(5), "tester")
    paid = len(outbox.embedder.paid)

    report = await use_case(outbox).run(outbox.workspace, documents(5), "tester")

    assert (report.unchanged, report.embedded, report.version) == (5, 0, None)
    assert len(outbox.embedder.paid) == paid


async def test_one_changed_chunk_is_the_only_one_paid(outbox: DataPlane) -> None:
    await use_case(outbox).run(outbox.workspace, documents(1), "tester")
    (before,) = documents(1)
    after = ChunkedDocument(before.source_path, before.title, (*before.texts[:2], "A new end."))

    report = await use_case(outbox).run(outbox.workspace, [after], "tester")

    assert (report.embedded, report.kept) == (1, 2)
    assert await outbox.chunk_texts("0.md") == list(after.texts)


async def test_a_path_given_twice_ends_with_the_later_text(outbox: DataPlane) -> None:
    report = await use_case(outbox).run(outbox.workspace, [*documents(1), *documents(1, word="sand")], "tester")

    assert report.documents == 2
    assert await outbox.chunk_texts("0.md") == list(documents(1, word="sand")[0].texts)


@pytest.mark.parametrize("texts", [(), ("  ",)])
async def test_documents_without_text_are_refused(outbox: DataPlane, texts: tuple[str, ...]) -> None:
    with pytest.raises(InvalidInput):
        await use_case(outbox).run(outbox.workspace, [ChunkedDocument("a.md", "A", texts)], "tester")


async def test_another_embedding_space_is_refused_with_a_remedy(outbox: DataPlane) -> None:
    async with outbox.database.transaction(outbox.workspace.org_id) as transaction:
        await transaction.workspaces.register_space(outbox.workspace, EmbeddingSpace("openai", "other", 1536))

    with pytest.raises(SpaceMismatch, match="RAG_EMBEDDER"):
        await use_case(outbox).run(outbox.workspace, documents(1), "tester")
    assert await outbox.rows("rag_documents") == 0


async def test_the_chunks_of_a_plain_text_stand_where_its_author_wrote_them(outbox: DataPlane) -> None:
    text = "\n\n".join(f"Paragraph {n} tells how the water of lake {n} is measured. " * 20 for n in range(9))
    cases = use_case(outbox)
    document = await cases.cut(PlainTextDocument("lakes.txt", "Lakes", text), "small")

    await cases.run(outbox.workspace, [document], "tester")

    stored = await outbox.document("lakes.txt")
    assert stored is not None
    async with outbox.database.transaction(outbox.workspace.org_id) as transaction:
        visible = await transaction.documents.visible_chunks(outbox.workspace, stored.document_id)
    assert [text[one.start : one.end] for one in visible] == list(document.texts)
    assert len(visible) > 1
