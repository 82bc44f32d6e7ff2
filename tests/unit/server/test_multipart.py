"""A body that was read is let go of at once: requests hold buffers, and cyclic garbage is collected seldom."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Iterator

import pytest
from starlette.requests import Request
from starlette.types import Message

from agentic_rag.kernel.errors import InvalidInput
from agentic_rag_server.rest.http.multipart import MultipartBody

BODY = (
    b'--edge\r\nContent-Disposition: form-data; name="file"; filename="a.md"\r\n\r\n# A\r\n'
    b'--edge\r\nContent-Disposition: form-data; name="title"\r\n\r\nA\r\n--edge--\r\n'
)


@pytest.fixture
def uncollected() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("uncollected")
@pytest.mark.parametrize("sent", [BODY, BODY[:-20]])
async def test_nothing_of_a_body_that_was_read_waits_for_the_collector(sent: bytes) -> None:
    async def receive() -> Message:
        return {"type": "http.request", "body": sent, "more_body": False}

    async def read() -> tuple[list[str], weakref.ref[Request]]:
        request = Request(
            {"type": "http", "headers": [(b"content-type", b"multipart/form-data; boundary=edge")]}, receive
        )
        body, names = MultipartBody(request, 1000), list[str]()
        try:
            async for part in body.parts():
                names.append(part.name)
                await part.text()
        except InvalidInput as wrong:
            names.append(wrong.code)
        return names, weakref.ref(request)

    names, held = await read()
    # The loop closes generators that were let go of.
    for _ in range(3):
        await asyncio.sleep(0)

    assert names == (["file", "title"] if sent == BODY else ["file", "MULTIPART_INVALID"])
    assert held() is None
