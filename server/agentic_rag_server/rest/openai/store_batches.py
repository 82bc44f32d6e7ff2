"""`/v1/vector_stores/{id}/file_batches`: several files added at once. The id of a batch says which files are in it, so
that every process answers for it and nothing is kept.
"""

from __future__ import annotations

import base64
import binascii
import time
from collections.abc import Sequence
from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from agentic_rag.documents.document import Document, DocumentStatus
from agentic_rag.documents.document_access import DocumentRight
from agentic_rag.kernel.errors import Forbidden, InvalidInput, NotFound
from agentic_rag.kernel.public_ids import NodeKind, decode, encode_workspace
from agentic_rag.tenancy.principals import Principal, WorkspaceRef
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Rule, Sight
from agentic_rag_server.rest.documents.uploads import UPLOAD_REFUSALS
from agentic_rag_server.rest.http.bodies import read_json
from agentic_rag_server.rest.http.models import NOT_STORED, Model, OpenAIRefusal, answer
from agentic_rag_server.rest.http.operations import Endpoint, Parameter, ResponseSpec, admitted, operation
from agentic_rag_server.rest.openai.attributes import Attributes, attributes_change
from agentic_rag_server.rest.openai.files import PAGING, read_limit
from agentic_rag_server.rest.openai.places import file_ids, store_workspace
from agentic_rag_server.rest.openai.store_files import (
    FILTER,
    STORED_SOON,
    StoreFileList,
    add_to_store,
    show_store_file,
    wanted_statuses,
)
from agentic_rag_server.rest.openai.vector_stores import PATH, STORE, TAG, FileCounts, refuse_chunking

MAX_FILES = 100
PREFIX = "vsfb_"
_PATH = f"{PATH}/{{workspace}}/file_batches"
_BATCH = Parameter("batch", "path", "Id of the batch.", {"type": "string", "minLength": 1})
_REFUSALS = (400, 401, 403, 404, 429, 500, 503)


class BatchFile(Model, frozen=True, rename=None):
    """A file with attributes of its own."""

    file_id: str
    attributes: Attributes | None = None
    chunking_strategy: dict[str, Any] | None = None


class NewFileBatch(Model, frozen=True, rename=None):
    """Files to add: `file_ids` with the same attributes, or `files`."""

    file_ids: Annotated[list[str], Meta(max_length=MAX_FILES)] | None = None
    files: Annotated[list[BatchFile], Meta(max_length=MAX_FILES)] | None = None
    attributes: Attributes | None = None
    chunking_strategy: dict[str, Any] | None = None


class FileBatch(Model, frozen=True, rename=None):
    """A batch. Files that are gone from the store, or hidden from the caller, count as cancelled."""

    id: str
    object: Literal["vector_store.files_batch"]
    created_at: int
    vector_store_id: str
    status: Literal["in_progress", "completed", "cancelled", "failed"]
    file_counts: FileCounts


class FileBatchesEndpoint(Endpoint):
    """Each file is added as `POST …/files` adds it."""

    tag = TAG

    @operation(
        "POST",
        _PATH,
        "createVectorStoreFileBatch",
        summary=f"Add up to {MAX_FILES} files to a vector store",
        description="Takes the role member, and the right to read every file: otherwise none is added.",
        rule=Rule((Action.UPLOAD_DOCUMENT,), DocumentRight.READ),
        parameters=(STORE,),
        takes=NewFileBatch,
        answers=(ResponseSpec(200, "The batch; a worker reads its files.", FileBatch),),
        refusals=UPLOAD_REFUSALS,
        refusal=OpenAIRefusal,
    )
    async def create(self, request: Request) -> Response:
        """Errors: those of `CopyDocument`, `store_workspace`; `InvalidInput`."""
        principal = admitted(request).principal
        given = await read_json(request, NewFileBatch, self._parts.options.max_body_bytes)
        store = (await store_workspace(self._parts, principal, request.path_params["workspace"])).ref
        wanted = [
            (decode(one.file_id, NodeKind.DOCUMENT, path=("file_ids",)), attributes_change(one.attributes))
            for one in _files_of(given)
        ]
        for node, _ in wanted:
            # Before anything is added, so that a wrong id leaves nothing behind.
            await self._parts.copy_document.find(principal, node)
        added = [await add_to_store(self._parts, principal, node, store, attributes) for node, attributes in wanted]
        return await self._answer(principal, store, batch_id_of(int(time.time()), added))

    @operation(
        "GET",
        f"{_PATH}/{{batch}}",
        "getVectorStoreFileBatch",
        summary="A batch of files and where it stands",
        rule=Rule((Action.READ,), Sight.ORGANISATION),
        parameters=(STORE, _BATCH),
        answers=(ResponseSpec(200, "The batch.", FileBatch),),
        refusals=_REFUSALS,
        refusal=OpenAIRefusal,
    )
    async def get(self, request: Request) -> Response:
        """Errors: those of `store_workspace`, `NotFound` for an id that no batch has."""
        principal = admitted(request).principal
        store = (await store_workspace(self._parts, principal, request.path_params["workspace"])).ref
        return await self._answer(principal, store, request.path_params["batch"])

    @operation(
        "GET",
        f"{_PATH}/{{batch}}/files",
        "listVectorStoreFileBatchFiles",
        summary="The files of a batch",
        rule=Rule((Action.READ,), Sight.ORGANISATION),
        parameters=(STORE, _BATCH, FILTER, *PAGING),
        answers=(ResponseSpec(200, "The files.", StoreFileList),),
        refusals=_REFUSALS,
        refusal=OpenAIRefusal,
    )
    async def page(self, request: Request) -> Response:
        """Errors: those of `get`, `InvalidInput`."""
        principal = admitted(request).principal
        store = (await store_workspace(self._parts, principal, request.path_params["workspace"])).ref
        _, keys = _read_batch(request.path_params["batch"])
        wanted = wanted_statuses(request)
        known = [one for one in await self._known(principal, store, keys) if one.status in wanted]
        ids = await file_ids(self._parts, principal, [one.source_path for one in known])
        files = [show_store_file(one, ids) for one in known]
        first, after = read_limit(request), request.query_params.get("after")
        places = [one.id for one in files]
        if after is not None and after not in places:
            raise InvalidInput("`after` is the id of a file of the batch.", path=("after",))
        rest = files[places.index(after) + 1 :] if after else files
        shown = rest[:first]
        ends = (shown[0].id, shown[-1].id) if shown else (None, None)
        return answer(StoreFileList("list", shown, *ends, len(rest) > first), headers=NOT_STORED)

    @operation(
        "POST",
        f"{_PATH}/{{batch}}/cancel",
        "cancelVectorStoreFileBatch",
        summary="Take the files of a batch that are not read yet from the vector store",
        description="Takes the owner of each file with the role member, or the role admin; other files stay.",
        rule=Rule((Action.DELETE_DOCUMENT,), Sight.ORGANISATION),
        parameters=(STORE, _BATCH),
        answers=(ResponseSpec(200, "The batch.", FileBatch),),
        refusals=_REFUSALS,
        refusal=OpenAIRefusal,
    )
    async def cancel(self, request: Request) -> Response:
        """Errors: those of `get`."""
        principal = admitted(request).principal
        store = (await store_workspace(self._parts, principal, request.path_params["workspace"])).ref
        _, keys = _read_batch(request.path_params["batch"])
        for one in await self._known(principal, store, keys):
            if one.status in _UNDER_WAY and await self._may(principal, one, DocumentRight.OWN):
                await self._parts.delete.run(store, one.document_id, principal.subject_id)
        return await self._answer(principal, store, request.path_params["batch"])

    async def _known(self, principal: Principal, store: WorkspaceRef, keys: Sequence[UUID]) -> list[Document]:
        """The files that are there and that the caller may know of, in the order in which they were added."""
        async with self._parts.database.transaction(store.org_id) as transaction:
            found = await transaction.documents.get_many(store, keys)
        held = [found[key] for key in keys if key in found]
        return [one for one in held if await self._may(principal, one, DocumentRight.KNOW)]

    async def _may(self, principal: Principal, document: Document, right: DocumentRight) -> bool:
        try:
            await self._parts.document_access.require(principal, document.workspace, document.document_id, right)
        except (Forbidden, NotFound):
            return False
        return True

    async def _answer(self, principal: Principal, store: WorkspaceRef, batch_id: str) -> Response:
        made, keys = _read_batch(batch_id)
        known = await self._known(principal, store, keys)
        counted = {status: sum(one.status is status for one in known) for status in DocumentStatus}
        under_way = sum(counted[status] for status in _UNDER_WAY)
        gone = len(keys) - len(known)
        counts = FileCounts(under_way, counted[DocumentStatus.READY], counted[DocumentStatus.FAILED], gone, len(keys))
        status = "in_progress" if under_way else "cancelled" if gone == len(keys) else "completed"
        shown = FileBatch(
            batch_id, "vector_store.files_batch", made, encode_workspace(store.workspace_id), status, counts
        )
        return answer(shown, headers=STORED_SOON)


_UNDER_WAY = (DocumentStatus.PENDING, DocumentStatus.PROCESSING)


def _files_of(given: NewFileBatch) -> list[BatchFile]:
    """The files of a request. Errors: `InvalidInput`."""
    if bool(given.file_ids) == bool(given.files):
        raise InvalidInput("Give the files either as `file_ids` or as `files`.", path=("file_ids",))
    files = given.files or [BatchFile(one, given.attributes) for one in given.file_ids or ()]
    for one in files:
        refuse_chunking(one.chunking_strategy)
    refuse_chunking(given.chunking_strategy)
    return files


def batch_id_of(made: int, keys: Sequence[UUID]) -> str:
    """The id of a batch that was made then, in seconds, of these files."""
    content = made.to_bytes(8, "big") + b"".join(key.bytes for key in keys)
    return PREFIX + base64.urlsafe_b64encode(content).decode().rstrip("=")


def _read_batch(batch_id: str) -> tuple[int, list[UUID]]:
    """When a batch was made, in seconds, and its files. Errors: `NotFound`."""
    text = batch_id.removeprefix(PREFIX)
    try:
        content = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        content = b""
    made, keys = content[:8], content[8:]
    if not batch_id.startswith(PREFIX) or not keys or len(keys) % 16 or len(keys) > 16 * MAX_FILES:
        raise NotFound("There is no such batch of files.")
    return int.from_bytes(made, "big"), [UUID(bytes=keys[at : at + 16]) for at in range(0, len(keys), 16)]
