"""What the rows of `make security` stand on: real servers, each started when a row first asks for them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.chaos.ground import Servers, started_servers


@dataclass
class Ground:
    """Shared by all rows of one run; a row that needs a database makes one of its own."""

    _exits: contextlib.ExitStack
    _servers: list[Servers] = field(default_factory=list[Servers])

    def servers(self) -> Servers:
        """A Postgres and a Redis; `new_database` gives a fresh migrated database."""
        if not self._servers:
            self._servers.append(self._exits.enter_context(started_servers()))
        return self._servers[0]


@contextlib.contextmanager
def opened_ground() -> Iterator[Ground]:
    """A ground whose servers stop with the context."""
    with contextlib.ExitStack() as exits:
        yield Ground(exits)
