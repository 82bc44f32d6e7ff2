"""The row on deletions: what a member is told who deletes a document of his own, beside hidden work and without."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from uuid import uuid4

from agentic_rag.answering.question import Question
from agentic_rag.ingestion.upload import UploadOptions
from agentic_rag.kernel.public_ids import NodeKind, encode, encode_in_organisation
from agentic_rag.tenancy.principals import Principal, Role, SubjectKind
from tests.bench.reports import Row, exactly
from tests.security.ground import Ground
from tests.security.rows.hidden_work import MEMBER, HiddenWork, Member, make_member, pieces
from tests.security.table import Measure
from tests.security.tenants import two_tenants

TEXT = "The pump Falcon Rotary lifts seven cubic metres of water. It is the member's own."
CERTIFICATE = "complete stores { store count done }"
DELETE = (
    "mutation {{ deleteDocument(id: {id}) {{ certificate {{ {certificate} }} erased {{ revisions chunks vectors "
    "postings mentions entities staged runsRedacted jobsRedacted cacheEntries blobs }} }} }}"
)
PROVE = "{{ proveErased(documentId: {id}) {{ erased certificate {{ {certificate} }} findings {{ kind }} }} }}"
NUMBERS_OF_ITS_OWN = {"deletedId", "corpusVersion", "erasedAt", "takenAt"}

Between = Callable[[], Awaitable[None]]


async def _nothing() -> None:
    pass


async def _deleted(member: Member, *, by_rest: bool, between: Between) -> str:
    """What the member is told who publishes a document, asks about it, and deletes it and proves it gone."""
    container, workspace = member.world.container, member.workspace
    owner = Principal(workspace.org_id, MEMBER, Role.MEMBER, kind=SubjectKind.KEY)
    path = f"mine-{uuid4().hex}.txt"
    upload = await container.upload.run(workspace, path, pieces(TEXT.encode()), UploadOptions(), owner)
    await HiddenWork(member).publish(workspace, path, TEXT)
    await container.answer.ask(owner, Question(workspace, "How much does the pump Falcon Rotary lift?"))
    await between()
    public_id = encode(NodeKind.DOCUMENT, workspace.workspace_id, upload.document_id)
    named = {"id": json.dumps(public_id), "certificate": CERTIFICATE}
    if by_rest:
        place = encode_in_organisation(NodeKind.WORKSPACE, workspace.workspace_id)
        told = await member.body("DELETE", f"/v1/workspaces/{place}/documents/{public_id}", {})
    else:
        told = await member.body("POST", "/graphql", {"json": {"query": DELETE.format(**named)}})
    proof = await member.body("POST", "/graphql", {"json": {"query": PROVE.format(**named)}})
    return json.dumps([_counts(told), _counts(proof)], sort_keys=True)


def _counts(value: object) -> object:
    """What is told, without what is another one for each deletion."""
    if isinstance(value, dict):
        return {name: _counts(one) for name, one in value.items() if name not in NUMBERS_OF_ITS_OWN}
    return [_counts(one) for one in value] if isinstance(value, list) else value


async def own_deletions(ground: Ground, short: bool) -> list[Row]:
    """By GraphQL and by REST, each: once so that what others did before is gone, twice with nothing between, and once
    while others publish hidden documents that name the same things, and ask.
    """
    unsteady, moved, refused = 0, 0, 0
    async with two_tenants(ground) as world:
        member = await make_member(world)
        work = HiddenWork(member)

        async def hidden() -> None:
            await work.documents(member.workspace)

        for by_rest in (False, True):
            steps: tuple[Between, ...] = (_nothing, _nothing, _nothing, hidden)
            _, one, two, beside = [await _deleted(member, by_rest=by_rest, between=step) for step in steps]
            unsteady, moved = unsteady + (one != two), moved + (two != beside)
            refused += any('"certificate": null' in told or '"errors"' in told for told in (one, two, beside))
            if not one == two == beside:
                print(f"  by_rest={by_rest}\n    {one}\n    {two}\n    {beside}")
    return [
        exactly("ways of deleting that were refused", refused, 0),
        exactly("ways of deleting whose replies differ by themselves", unsteady, 0),
        exactly(
            "ways of deleting one's own document that tell of hidden documents and of questions of others", moved, 0
        ),
    ]


ROWS: Mapping[str, Measure] = {"own-deletions": own_deletions}
