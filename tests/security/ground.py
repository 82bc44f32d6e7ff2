"""What the rows of `make security` stand on: real servers, each started when a row first asks for them."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.chaos.ground import GivenServers, Servers, started_servers
from tests.stack import POSTGRES, Stack, redis_sources


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


@contextlib.contextmanager
def ground_on(stack: Stack) -> Iterator[Ground]:
    """A ground over the servers of a test session, which others use at the same time."""
    home = Path(tempfile.mkdtemp(prefix="rag-security-"))
    home.chmod(0o711)
    given = GivenServers(stack.address(POSTGRES), stack.redis_url(redis_sources()[0]))
    with contextlib.ExitStack() as exits:
        exits.callback(shutil.rmtree, home, ignore_errors=True)
        yield Ground(exits, [Servers(given, home, _template=stack.template())])
