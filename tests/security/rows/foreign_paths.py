"""Rows on REST paths: what is another organisation's, or hidden, is answered as what never was."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any
from uuid import UUID

from agentic_rag.kernel.public_ids import NodeKind, decode
from agentic_rag.workspaces.administer import NewWorkspace
from agentic_rag.workspaces.organisation import FeatureFlag
from agentic_rag.workspaces.workspace import WorkspaceKind
from agentic_rag_server.main import server_parts
from agentic_rag_server.rest.api import operations
from agentic_rag_server.rest.http.operations import FileForm, OperationSpec
from agentic_rag_server.rest.openai.store_batches import batch_id_of
from tests.bench.reports import Row, exactly
from tests.security.alike import Pair, all_alike
from tests.security.ground import Ground
from tests.security.rows.foreign_ids import as_member, borrowed, close, contents, missing, missing_in_ours
from tests.security.table import Measure
from tests.security.tenants import TwoTenants, two_tenants

FILE = ("a.md", b"# A\n\nText.", "text/markdown")
BODIES: Mapping[str, Any] = {
    "setDocumentReaders": {"readableBy": ["user:ada"]},
    "setDocumentWriters": {"writers": ["user:ada"]},
    "transferOwnership": {"owner": "user:ada"},
    "updateDocument": {"title": "Another title"},
    "saveContextTemplate": {"heading": "## Rules"},
    "searchVectorStore": {"query": "How much?"},
    "addVectorStoreFile": {"file_id": missing(NodeKind.DOCUMENT)},
    "updateVectorStore": {"name": "Another name"},
    "updateVectorStoreFile": {"attributes": {"topic": "valves"}},
    "createVectorStoreFileBatch": {"file_ids": [missing(NodeKind.DOCUMENT)]},
    "setInlineGuidelines": {"inlineGuidelines": "Be brief."},
}
NOBODY = UUID(int=0xDEAD)
THEIR_NAME, NO_NAME, OUR_NAME = "only-theirs", "never-wasit", "p-7"
ID_KINDS = {
    "getOriginal": "document",
    "getDocumentText": "document",
    "updateDocument": "document",
    "getChunk": "chunk",
    "getCitedPage": "run",
    "getCitedOriginal": "run",
}
"""What `{id}` names in the path of an operation."""
LAST = ("GET", "DELETE", "PATCH", "PUT", "POST")
"""What makes a project or an agent of ours of a name comes last, for then the name means something here."""


@dataclass(frozen=True)
class Names:
    """What may stand at a place of a path: ours, and pairs of what must not differ."""

    ours: str
    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Asker:
    """Whose token asks, and for what."""

    token: str
    names: Mapping[str, Names]
    is_shut_out: bool = False
    """Our workspace is closed to the asker before the requests."""


def _things(kind: NodeKind, world: TwoTenants) -> Names:
    """Ours of a kind, theirs, and theirs with our workspace before it."""
    theirs = (world.theirs.ids[kind], missing(kind)), (borrowed(kind, world), missing_in_ours(kind, world.ours))
    return Names(world.ours.ids[kind], theirs)


def _foreign(world: TwoTenants) -> Asker:
    document = NodeKind.DOCUMENT
    ours, theirs = world.ours, world.theirs
    documents = Names(
        ours.ids[document],
        (
            (theirs.ids[document], missing(document)),
            (borrowed(document, world), missing_in_ours(document, ours)),
            (str(decode(theirs.ids[document]).key), str(NOBODY)),
        ),
    )
    workspaces = Names(
        ours.ids[NodeKind.WORKSPACE],
        (
            (theirs.ids[NodeKind.WORKSPACE], missing(NodeKind.WORKSPACE)),
            (str(decode(theirs.ids[NodeKind.WORKSPACE]).workspace_id), str(NOBODY)),
        ),
    )
    run = NodeKind.RUN
    responses = Names(
        f"resp_{ours.ids[run]}",
        (
            (f"resp_{theirs.ids[run]}", f"resp_{missing(run)}"),
            (f"resp_{borrowed(run, world)}", f"resp_{missing_in_ours(run, ours)}"),
        ),
    )
    batches = Names(
        _batch(ours.ids[document]),
        (
            (_batch(theirs.ids[document]), _batch(missing(document))),
            (_batch(borrowed(document, world)), _batch(missing_in_ours(document, ours))),
        ),
    )
    organisations = Names(
        str(ours.org_id), ((str(theirs.org_id), str(NOBODY)), ("issuer-theirs", "issuer-nobody"), ("theirs", "nobody"))
    )
    names = Names(OUR_NAME, ((THEIR_NAME, NO_NAME),))
    return Asker(
        ours.token,
        {
            "workspace": workspaces,
            "document": documents,
            "documentId": documents,
            "docId": documents,
            "orgId": organisations,
            "id": names,
            "model": Names("handbook", ((WorkspaceKind.PROJECT.value, NO_NAME),)),
            "name": Names("rules", (("theirs-rules", "nobodys-rules"),)),
            "response": responses,
            "run": _things(run, world),
            "chunk": _things(NodeKind.CHUNK, world),
            "marker": Names("1", ()),
            "batch": batches,
        },
    )


def _batch(public_id: str) -> str:
    """A batch of one file."""
    return batch_id_of(0, [decode(public_id).key])


async def _hidden(world: TwoTenants) -> Asker:
    """A member of ours, to whom our document is hidden."""
    pair = (world.ours.ids[NodeKind.DOCUMENT], missing_in_ours(NodeKind.DOCUMENT, world.ours))
    documents = Names(pair[1], (pair,))
    batches = Names(_batch(pair[1]), ((_batch(pair[0]), _batch(pair[1])),))
    kept = {name: Names(one.ours, ()) for name, one in _foreign(world).names.items()}
    things = {
        kind.name.lower(): Names(world.ours.ids[kind], ((world.ours.ids[kind], missing_in_ours(kind, world.ours)),))
        for kind in (NodeKind.RUN, NodeKind.CHUNK)
    }
    member = (await as_member(world)).ours.token
    named = dict.fromkeys(("document", "documentId", "docId"), documents)
    return Asker(member, {**kept, **named, "batch": batches, **things})


def _closed(world: TwoTenants, member: Asker) -> Asker:
    """A member of ours who may not enter our workspace."""
    kept, ours = _foreign(world).names, world.ours.ids
    pairs = {
        "workspace": (ours[NodeKind.WORKSPACE], missing(NodeKind.WORKSPACE)),
        **dict.fromkeys(("document", "documentId", "docId"), (ours[NodeKind.DOCUMENT], missing(NodeKind.DOCUMENT))),
        "response": (f"resp_{ours[NodeKind.RUN]}", f"resp_{missing(NodeKind.RUN)}"),
        **{kind.name.lower(): (ours[kind], missing(kind)) for kind in (NodeKind.RUN, NodeKind.CHUNK)},
    }
    names = {name: Names(one.ours, (pairs[name],) if name in pairs else ()) for name, one in kept.items()}
    return Asker(member.token, names, is_shut_out=True)


def _places(operation: OperationSpec) -> list[str]:
    return [one.name for one in operation.parameters if one.place == "path"]


def _kind(operation: OperationSpec, place: str) -> str:
    """What the place names, where its name does not say it."""
    if place != "id":
        return place
    return ID_KINDS.get(operation.name, place)


def tried(operation: OperationSpec, asker: Asker) -> Iterator[tuple[dict[str, str], dict[str, str]]]:
    """Pairs of fillings: one place at a time, and all of them at once."""
    places = _places(operation)
    names = {place: asker.names[_kind(operation, place)] for place in places}
    ours = {place: one.ours for place, one in names.items()}
    for place, one in names.items():
        for foreign, unknown in one.pairs:
            yield {**ours, place: foreign}, {**ours, place: unknown}
    together = [[(place, *pair) for pair in one.pairs] for place, one in names.items()]
    if len(places) > 1:
        for chosen in product(*together):
            yield {place: one for place, one, _ in chosen}, {place: one for place, _, one in chosen}


async def ask(world: TwoTenants, operation: OperationSpec, asker: Asker, filled: Mapping[str, str]) -> tuple[Any, ...]:
    """Status, names of the headers, and the body without what it was asked for and its trace."""
    sent: dict[str, Any] = {}
    if isinstance(operation.takes, FileForm):
        sent["files"] = {"file": FILE}
    elif operation.takes is not None:
        sent["json"] = BODIES[operation.name]
    response = await world.http.request(
        operation.method,
        operation.path.format_map(filled),
        headers={"authorization": f"Bearer {asker.token}"},
        **sent,
    )
    body = response.text.replace(response.headers["x-trace-id"], "TRACE")
    for place, value in filled.items():
        body = body.replace(value, place)
    made = response.is_success and operation.method == "POST"
    return response.status_code, sorted(response.headers), None if made else body


async def foreign_paths(ground: Ground, short: bool) -> list[Row]:
    """Every operation that takes a name or an id in its path, as an admin of ours, as a member from whom our
    document is hidden, and as one who may not enter our workspace.
    """
    answers = list[Pair]()
    async with two_tenants(ground) as world:
        admin = world.container.administer
        await admin.set_feature(world.ours.org_id, FeatureFlag.RAG_GUIDELINES, on=True, actor="test")
        for kind in (WorkspaceKind.PROJECT, WorkspaceKind.AGENT):
            await admin.create_workspace(world.theirs.org_id, NewWorkspace(kind.value, kind, THEIR_NAME), "test")
        before = await contents(world.database_url, world.theirs.org_id)
        served = [one for one in operations(server_parts(world.container)) if one.rule and _places(one)]
        served.sort(key=lambda one: LAST.index(one.method))
        member = await _hidden(world)
        for asker in (_foreign(world), member, _closed(world, member)):
            if asker.is_shut_out:
                await close(world)
            for operation in served:
                for foreign, unknown in tried(operation, asker):
                    two = [await ask(world, operation, asker, filled) for filled in (foreign, unknown)]
                    answers.append(Pair(f"{operation.name} {foreign}", *two))
        after = await contents(world.database_url, world.theirs.org_id)
    changed = [table for table in before if before[table] != after[table]]
    return [
        all_alike("names and ids of others in REST paths answered as missing ones", answers),
        exactly("tables in which something of the other organisation changed by REST", len(changed), 0),
    ]


ROWS: Mapping[str, Measure] = {"foreign-paths": foreign_paths}
