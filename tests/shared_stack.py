"""One stack for all workers of a parallel run: the controlling process owns the servers, workers ask for addresses."""

from __future__ import annotations

import secrets
import threading
from dataclasses import dataclass, field
from multiprocessing.connection import Client, Connection, Listener

import pytest

from tests.stack import FROM_CLUSTER, SessionStack, database_at


@dataclass
class StackDesk:
    """Answers the workers from a thread of the controlling process, one question after the other."""

    stack: SessionStack
    key: str = field(default_factory=lambda: secrets.token_hex(16))
    _listener: Listener | None = None

    @property
    def port(self) -> int:
        """Where workers ask; the desk opens with the first call."""
        if self._listener is None:
            self._listener = Listener(("127.0.0.1", 0), authkey=self.key.encode())
            threading.Thread(target=self._serve, args=(self._listener,), daemon=True).start()
        return self._listener.address[1]

    def _serve(self, listener: Listener) -> None:
        while True:
            with listener.accept() as worker:
                worker.send(self._answer(worker))

    def _answer(self, worker: Connection) -> tuple[str, str]:
        question, argument = worker.recv()
        try:
            return "found", self.stack.template() if question == "template" else self.stack.address(argument)
        except pytest.skip.Exception as missing:
            return "missing", str(missing)
        except Exception as error:  # noqa: BLE001 - the worker raises it
            return "failed", repr(error)


@dataclass(frozen=True, slots=True)
class WorkerStack:
    """The stack as a worker sees it: the servers of its controller, and on each Redis a database of its own."""

    port: int
    key: str
    number: int

    def address(self, server: str) -> str:
        """Address of a server, started by the controller when first asked for; skips where a component is missing."""
        return self._ask("address", server)

    def template(self) -> str:
        """Name of a migrated database on the Postgres that nobody is connected to."""
        return self._ask("template", "")

    def redis_url(self, source: str) -> str:
        """Address of a Redis build, its database numbered as this worker where it has several."""
        address = self.address(source)
        return address if source == FROM_CLUSTER else database_at(address, str(self.number))

    def _ask(self, question: str, argument: str) -> str:
        with Client(("127.0.0.1", self.port), authkey=self.key.encode()) as desk:
            desk.send((question, argument))
            outcome, text = desk.recv()
        if outcome == "missing":
            pytest.skip(text)
        if outcome == "failed":
            raise AssertionError(f"{argument or question}: {text}")
        return text
