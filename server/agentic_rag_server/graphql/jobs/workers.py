"""Worker processes."""

from contextlib import aclosing
from datetime import datetime

import strawberry

from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Sight
from agentic_rag_server.graphql.http.context import Info
from agentic_rag_server.graphql.http.fields import field, to_schema
from agentic_rag_server.parts import ServerParts


@strawberry.type(description="A worker process.")
class Worker:
    name: str = strawberry.field(description="As attempts of jobs name it.")
    host: str
    pid: int
    version: str
    slots: int = strawberry.field(description="Bulk jobs that it runs at one time.")
    started_at: datetime
    seen_at: datetime = strawberry.field(description="It renews this every third of a lease.")
    ended_at: datetime | None = strawberry.field(description="Null while it runs, and for ever when it died.")


@strawberry.type
class WorkerQuery:
    @field(
        Action.SEE_FIGURES,
        right=Sight.ORGANISATION,
        description="Worker processes of the last day, at most 100, those that did not end first. Takes the role "
        "operator.",
    )
    async def workers(self, info: Info) -> list[Worker]:
        async with aclosing(info.context.parts.job_board()) as board:
            return [to_schema(Worker, one, one.identity) for one in await board.workers()]


async def is_worker_running(parts: ServerParts) -> bool:
    """Whether a worker holds the dispatch lead. The check takes the lead for a moment."""
    async with aclosing(parts.job_board()) as board:
        return not await board.lead()
