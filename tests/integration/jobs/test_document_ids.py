"""Ids of documents: nobody works one out, and documents from before organisations had secrets keep theirs."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

import pytest
from tests.integration.jobs.data_plane import DataPlane

from agentic_rag.documents.document import document_id_for
from agentic_rag.documents.document_ids import find_id

pytestmark = [pytest.mark.integration, pytest.mark.network]


async def found_at(plane: DataPlane, path: str) -> UUID | None:
    async with plane.database.transaction(plane.workspace.org_id) as transaction:
        return await find_id(transaction, plane.workspace, path)


async def test_whoever_knows_the_path_and_not_the_secret_works_out_another_id(plane: DataPlane, folder: Path) -> None:
    (folder / "a.md").write_text("Water flows.")
    await plane.ingest_folder(folder)
    key = await plane.set_id_key(b"another")
    document = await plane.document("a.md")

    assert document is not None
    assert len(key) == 32
    guesses = [document_id_for(plane.workspace, "a.md", key=guess) for guess in (b"", b"another")]
    assert document.document_id not in guesses
    assert document.document_id == document_id_for(plane.workspace, "a.md", key=key)


async def test_documents_from_before_there_were_secrets_keep_their_ids(plane: DataPlane, folder: Path) -> None:
    key = await plane.set_id_key(b"")
    for name in ("kept.md", "back.md", "gone.md"):
        (folder / name).write_text(f"Water flows in {name}.")
    await plane.ingest_folder(folder)
    old = {name: document_id_for(plane.workspace, name) for name in ("kept.md", "back.md", "gone.md")}
    for name in ("back.md", "gone.md"):
        await plane.delete.run(plane.workspace, old[name])
    await plane.set_id_key(key)
    (folder / "gone.md").unlink()
    (folder / "kept.md").write_text("Water rests.")

    await plane.ingest_folder(folder)

    assert await plane.id_of("kept.md") == old["kept.md"]
    assert await plane.chunk_texts("kept.md") == ["Water rests."]
    back = await found_at(plane, "back.md")
    assert back == document_id_for(plane.workspace, "back.md", key=key)
    assert await found_at(plane, "gone.md") == old["gone.md"]
    assert await found_at(plane, "never.md") is None
    await plane.delete.run(plane.workspace, back)
    assert await found_at(plane, "back.md") == back
