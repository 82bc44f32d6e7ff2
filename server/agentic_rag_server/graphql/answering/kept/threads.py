"""Conversations that a caller finds again."""

from datetime import datetime

import strawberry

from agentic_rag.answering.runs.run_filter import RunFilter
from agentic_rag.answering.threads import thread as values
from agentic_rag.kernel.public_ids import NodeKind, decode, encode, encode_workspace
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Sight
from agentic_rag_server.graphql.answering.runs import RunConnection, show_runs
from agentic_rag_server.graphql.http.context import Info, page_request
from agentic_rag_server.graphql.http.fields import Connection, Payload, connection, field, inner, mutation, to_schema


@strawberry.type(
    description="A conversation. It belongs to the caller who began it: to everybody else, admins included, it is not "
    "there. It is kept as long as its runs."
)
class Thread:
    id: strawberry.ID
    workspace_id: strawberry.ID
    title: str = strawberry.field(description="As its owner named it, else its oldest question; one line.")
    named: bool = strawberry.field(description="Whether its owner named it.")
    turns: int = strawberry.field(description="The runs in it that are still kept.")
    began_at: datetime
    last_at: datetime
    source: strawberry.Private[values.Thread]

    @inner(Action.READ, right=Sight.SUBJECT, description="Its runs, newest first.")
    async def runs(self, info: Info, first: int = 20, after: str | None = None) -> RunConnection:
        wanted = RunFilter(subject=self.source.subject, thread=self.source.thread_id)
        return await show_runs(info.context, self.source.workspace, page_request(first, after), wanted)


@strawberry.type
class ThreadQuery:
    @field(Action.READ, right=Sight.SUBJECT, description="A thread of the caller's by its id; null for any other.")
    async def thread(self, info: Info, id: strawberry.ID) -> Thread | None:
        context, node = info.context, decode(id, NodeKind.THREAD)
        found = await context.parts.threads.get(context.principal, context.ref(node), node.key)
        return None if found is None else _show(found)

    @field(
        Action.READ,
        right=Sight.SUBJECT,
        description="The caller's threads of a workspace, the one asked in last first.",
    )
    async def threads(
        self, info: Info, workspace_id: strawberry.ID, first: int = 20, after: str | None = None
    ) -> Connection[Thread]:
        context, request = info.context, page_request(first, after)
        workspace = await context.workspace(workspace_id)
        return connection(await context.parts.threads.page(context.principal, workspace, request), _show)


@strawberry.type(description="The thread; or, in `userErrors`, what to change in the request.")
class RenameThreadPayload(Payload):
    thread: Thread | None = None


@strawberry.type(description="What went; or, in `userErrors`, what to change in the request.")
class DeleteThreadPayload(Payload):
    deleted_id: strawberry.ID | None = None
    deleted_runs: int = 0


@strawberry.type(description="What went; or, in `userErrors`, what to change in the request.")
class DeleteRunPayload(Payload):
    deleted_id: strawberry.ID | None = None


@strawberry.type
class ThreadMutation:
    @mutation(Action.ASK, RenameThreadPayload, right=Sight.SUBJECT, description="Name a thread of the caller's.")
    async def rename_thread(self, info: Info, id: strawberry.ID, title: str) -> RenameThreadPayload:
        context, node = info.context, decode(id, NodeKind.THREAD)
        found = await context.parts.threads.rename(context.principal, context.ref(node), node.key, title)
        return RenameThreadPayload(thread=_show(found))

    @mutation(
        Action.ASK,
        DeleteThreadPayload,
        right=Sight.SUBJECT,
        description="Delete a thread of the caller's with its runs, their stages and what was said of them. What they "
        "cost stays in the usage; the audit log keeps that a thread was deleted.",
    )
    async def delete_thread(self, info: Info, id: strawberry.ID) -> DeleteThreadPayload:
        context, node = info.context, decode(id, NodeKind.THREAD)
        runs = await context.parts.threads.delete(context.principal, context.ref(node), node.key)
        return DeleteThreadPayload(deleted_id=id, deleted_runs=runs)

    @mutation(
        Action.ASK,
        DeleteRunPayload,
        right=Sight.SUBJECT,
        description="Delete one run of the caller's, in a thread or not, with its stages and what was said of it. What "
        "it cost stays in the usage; the audit log keeps that a run was deleted. Fails with RUN_NOT_FOUND for a run of "
        "anybody else.",
    )
    async def delete_run(self, info: Info, id: strawberry.ID) -> DeleteRunPayload:
        context, node = info.context, decode(id, NodeKind.RUN)
        await context.parts.threads.delete_run(context.principal, context.ref(node), node.key)
        return DeleteRunPayload(deleted_id=id)


def _show(found: values.Thread) -> Thread:
    workspace_id = found.workspace.workspace_id
    return to_schema(
        Thread,
        found,
        id=encode(NodeKind.THREAD, workspace_id, found.thread_id),
        workspace_id=encode_workspace(workspace_id),
        title=found.shown_title,
        named=found.title is not None,
        source=found,
    )
