"""How long the caller of a request is said to wait while its credential is looked up."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID

import pytest
from starlette.requests import Request

from agentic_rag.kernel.patience import ORDINARY_SECONDS, caller_seconds
from agentic_rag.tenancy.principals import Principal, Role
from agentic_rag_server.auth.bearer import principal_of


@dataclass
class Asked:
    """Notes how long the caller of each look-up waits."""

    seconds: list[float] = field(default_factory=list[float])

    async def authenticate(self, token: str) -> Principal:
        self.seconds.append(caller_seconds())
        return Principal(UUID(int=1), token, Role.VIEWER)


@pytest.mark.parametrize(
    ("prefer", "operation", "seconds"),
    [
        (None, ORDINARY_SECONDS, ORDINARY_SECONDS),
        (None, 2.0, 2.0),
        ("wait=3", ORDINARY_SECONDS, 3.0),
        ("respond-async, wait=3; x", 2.0, 3.0),
        ("Wait=3", 2.0, 3.0),
        ("wait=0", 2.0, 1.0),
        ("wait=9999", 2.0, ORDINARY_SECONDS),
        ("wait=99999", 2.0, 2.0),
        ("wait=-1", 2.0, 2.0),
        ("await=3", 2.0, 2.0),
    ],
)
async def test_how_long_a_caller_waits(prefer: str | None, operation: float, seconds: float) -> None:
    headers = [(b"authorization", b"Bearer key")]
    if prefer is not None:
        headers.append((b"prefer", prefer.encode()))
    asked = Asked()

    await principal_of(Request({"type": "http", "headers": headers}), asked, operation)

    assert asked.seconds == [seconds]
    assert caller_seconds() == ORDINARY_SECONDS
