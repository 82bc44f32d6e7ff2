"""The WebSocket of GraphQL, where its connection ends below it."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

from agentic_rag_server.graphql.http.socket import SUBPROTOCOL, SocketEndpoint

NOTHING: Any = None
"""Of the parts and the schema: nobody asks anything."""


async def test_an_answer_behind_the_end_of_a_connection_is_no_fault_of_the_program() -> None:
    """uvicorn has closed it, as it does with a client that sends too much, and takes no message any more."""
    coming = [{"type": "websocket.connect"}, {"type": "websocket.receive", "text": '{"type": "ping"}'}]
    sent: list[str] = []

    async def receive() -> MutableMapping[str, Any]:
        return coming.pop(0)

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message["type"])
        if message["type"] == "websocket.send":
            raise RuntimeError("Unexpected ASGI message 'websocket.send', after sending 'websocket.close'.")

    scope = {"type": "websocket", "headers": [], "subprotocols": [SUBPROTOCOL], "state": {}}
    await SocketEndpoint(NOTHING, NOTHING, NOTHING, NOTHING, ())(scope, receive, send)

    assert sent == ["websocket.accept", "websocket.send"]
