"""Whoever sends wrong credentials again and again waits longer for each refusal; nobody else does."""

from __future__ import annotations

from dataclasses import dataclass, field

from starlette.types import Message, Receive, Scope, Send
from tests.memory_store.telemetry import RecordingTelemetry

from agentic_rag_server.auth.bearer import WRONG_CREDENTIAL
from agentic_rag_server.auth.failed_credentials import (
    FREE_FAILURES,
    LONGEST_SECONDS,
    MOST_WAITING,
    FailedCredentials,
)

ATTACKER, OTHER = "203.0.113.9", "203.0.113.10"


@dataclass
class Times:
    """A clock that only waiting moves."""

    now: float = 0.0
    waited: list[float] = field(default_factory=list[float])

    def monotonic(self) -> float:
        return self.now

    async def wait(self, seconds: float) -> None:
        self.waited.append(seconds)


@dataclass
class Server:
    """Answers 401 to every credential but `good`."""

    times: Times = field(default_factory=Times)
    telemetry: RecordingTelemetry = field(default_factory=RecordingTelemetry)
    processes: int = 1

    def __post_init__(self) -> None:
        self.guarded = FailedCredentials(
            _answer, telemetry=self.telemetry, clock=self.times, processes=self.processes, wait=self.times.wait
        )

    def counted(self, slowed: str) -> float:
        """How many refusals were kept back, or were not."""
        return self.telemetry.counters.get(("rag_credentials_refused_total", (("slowed", slowed),)), 0)

    async def ask(self, address: str, credential: str | None = "wrong", kind: str = "http") -> float:
        """How long the answer was kept back."""
        before = sum(self.times.waited)
        headers = [] if credential is None else [(b"authorization", f"Bearer {credential}".encode())]
        scope = {"type": kind, "client": (address, 1234), "headers": headers}

        async def receive() -> Message:
            raise AssertionError("nothing is read")

        async def send(message: Message) -> None:
            return None

        await self.guarded(scope, receive, send)
        return sum(self.times.waited) - before


async def _answer(scope: Scope, receive: Receive, send: Send) -> None:
    good = (b"authorization", b"Bearer good") in scope["headers"]
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.close", "code": 1000 if good else WRONG_CREDENTIAL})
        return
    await send({"type": "http.response.start", "status": 200 if good else 401, "headers": []})
    await send({"type": "http.response.body", "body": b""})


async def test_wrong_credentials_of_an_address_are_answered_ever_more_slowly() -> None:
    server = Server()

    waits = [await server.ask(ATTACKER) for _ in range(FREE_FAILURES + 60)]

    assert waits[:FREE_FAILURES] == [0.0] * FREE_FAILURES
    assert waits[FREE_FAILURES:] == sorted(waits[FREE_FAILURES:])
    assert 0 < waits[FREE_FAILURES] < waits[-1] == LONGEST_SECONDS
    assert server.counted("false") == FREE_FAILURES
    assert server.counted("true") == 60


async def test_wrong_credentials_in_the_messages_of_a_websocket_count_with_those_of_requests() -> None:
    server = Server()
    for number in range(FREE_FAILURES):
        assert await server.ask(ATTACKER, None if number % 2 else "wrong", "websocket" if number % 2 else "http") == 0

    assert await server.ask(ATTACKER, "good", "websocket") == 0
    assert await server.ask(OTHER, None, "websocket") == 0
    assert await server.ask(ATTACKER, None, "websocket") > 0
    assert await server.ask(ATTACKER) > 0


async def test_servers_of_one_port_forgive_no_more_together_than_one() -> None:
    server = Server(processes=4)

    waits = [await server.ask(ATTACKER) for _ in range(FREE_FAILURES // 4 + 1)]

    assert waits[:-1] == [0.0] * (FREE_FAILURES // 4)
    assert waits[-1] > 0


async def test_good_credentials_and_other_addresses_are_not_slowed() -> None:
    server = Server()
    for _ in range(FREE_FAILURES + 20):
        await server.ask(ATTACKER)

    assert await server.ask(ATTACKER, "good") == 0
    assert await server.ask(OTHER) == 0


async def test_a_request_without_a_credential_is_no_attempt() -> None:
    server = Server()

    assert [await server.ask(ATTACKER, None) for _ in range(FREE_FAILURES + 20)] == [0.0] * (FREE_FAILURES + 20)


async def test_an_address_that_stops_is_forgiven_in_a_minute() -> None:
    server = Server()
    for _ in range(FREE_FAILURES + 20):
        await server.ask(ATTACKER)

    server.times.now += 120

    assert await server.ask(ATTACKER) == 0


async def test_an_address_of_a_network_of_the_sixth_version_is_its_network() -> None:
    server = Server()
    for number in range(FREE_FAILURES):
        await server.ask(f"2001:db8:1:2::{number:x}")

    assert await server.ask("2001:db8:1:2:ffff::1") > 0
    assert await server.ask("2001:db8:1:3::1") == 0


async def test_few_refusals_wait_at_once_so_that_they_hold_no_connections() -> None:
    server = Server()
    for _ in range(FREE_FAILURES):
        await server.ask(ATTACKER)
    inside: list[float] = []

    async def ask_another(seconds: float) -> None:
        server.times.waited.append(seconds)
        if len(inside) < MOST_WAITING + 5:
            inside.append(seconds)
            await server.ask(ATTACKER)

    server.guarded.wait = ask_another
    await server.ask(ATTACKER)

    assert len(server.times.waited) == MOST_WAITING
