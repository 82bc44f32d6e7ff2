"""Messages of the queue that no worker could decode."""

from base64 import b64encode
from contextlib import aclosing
from datetime import datetime
from uuid import UUID

import strawberry

from agentic_rag.jobs.message import StoredUndecodableMessage
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Sight
from agentic_rag_server.graphql.http.context import Info, page_request
from agentic_rag_server.graphql.http.fields import Connection, Payload, connection, field, mutation, to_schema


@strawberry.type(description="A message from Redis that no worker could decode; it may be of any organisation.")
class UndecodableMessage:
    id: strawberry.ID
    queue: str
    entry: str = strawberry.field(description="Its id in the queue; bytes that are no UTF-8 are escaped.")
    code: str
    reason: str
    bytes: int
    base64: str
    deliveries: int
    first_seen: datetime
    last_seen: datetime


@strawberry.type(description="Whether the message is forgotten.")
class PurgeUndecodableMessagePayload(Payload):
    purged: bool = False


@strawberry.type
class UndecodableQuery:
    @field(
        Action.RUN_PLATFORM,
        right=Sight.PLATFORM,
        description="Messages of the queue that could not be decoded, newest first. Takes the role operator in the "
        "default organisation.",
    )
    async def undecodable_messages(
        self, info: Info, first: int = 50, after: str | None = None
    ) -> Connection[UndecodableMessage]:
        request = page_request(first, after)
        async with aclosing(info.context.parts.dead_payloads()) as store:
            return connection(await store.page(request), _show)


@strawberry.type
class UndecodableMutation:
    @mutation(
        Action.RUN_PLATFORM,
        PurgeUndecodableMessagePayload,
        right=Sight.PLATFORM,
        description="Forget a message that could not be decoded. Takes the role operator in the default organisation.",
    )
    async def purge_undecodable_message(self, info: Info, id: strawberry.ID) -> PurgeUndecodableMessagePayload:
        """NOT_FOUND for one that is not there any more."""
        try:
            payload_id = UUID(id)
        except ValueError as error:
            raise InvalidInput("This is not the id of a message.", code="INVALID_ID", path=("id",)) from error
        parts, caller = info.context.parts, info.context.principal
        async with aclosing(parts.dead_payloads()) as messages:
            await parts.dead_letters.forget_message(messages, caller.org_id, payload_id, caller.subject_id)
        return PurgeUndecodableMessagePayload(purged=True)


def _show(stored: StoredUndecodableMessage) -> UndecodableMessage:
    message = stored.message
    return to_schema(
        UndecodableMessage,
        message,
        stored,
        id=strawberry.ID(str(message.payload_id)),
        entry=message.entry.decode("utf-8", "backslashreplace"),
        bytes=len(message.payload),
        base64=b64encode(message.payload).decode(),
    )
