"""What every `DocumentStore` promises about many documents at once."""

from uuid import uuid4

import pytest
from tests.builders import new_document
from tests.contract.backends import Backend

from agentic_rag.kernel.errors import NotFound
from agentic_rag.tenancy.principals import WorkspaceRef


async def test_registering_many_is_registering_each_in_the_order_given(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    published = await adapter.publish(workspace, "b.md", ["text"])
    new = [new_document(workspace, path, title=path.upper()) for path in ("c.md", "a.md", "b.md")]

    async with adapter.database.transaction(workspace.org_id) as transaction:
        registered = await transaction.documents.register_many(workspace, new)
        found = await transaction.documents.get_many(workspace, [item.document_id for item in new] + [uuid4()])

    assert [document.title for document in registered] == ["C.MD", "A.MD", "B.MD"]
    assert registered[2].document_id == published.document_id
    assert registered[2].revision_id is not None
    assert found == {document.document_id: document for document in registered}


async def test_no_documents_are_registered_and_found_without_error(adapter: Backend) -> None:
    workspace = await adapter.workspace()

    async with adapter.database.transaction(workspace.org_id) as transaction:
        assert await transaction.documents.register_many(workspace, []) == []
        assert await transaction.documents.get_many(workspace, []) == {}


async def test_documents_of_an_unknown_workspace_cannot_be_registered(adapter: Backend) -> None:
    workspace = WorkspaceRef(await adapter.organisation(), uuid4())

    with pytest.raises(NotFound):
        async with adapter.database.transaction(workspace.org_id) as transaction:
            await transaction.documents.register_many(workspace, [new_document(workspace, "a.md")])
