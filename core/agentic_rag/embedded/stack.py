"""Both embedded servers together, for `rag up`, the demo and the tests."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Self

from agentic_rag.embedded.postgres import EmbeddedPostgres
from agentic_rag.embedded.redis import EmbeddedRedis
from agentic_rag.embedded.server import EmbeddedServer


class EmbeddedStack:
    """Postgres and Redis under one home, started at the same time.

    Each server belongs to the process that started it first; a second stack on the same home attaches. When
    an owner ends in any way, kill -9 included, its servers shut down cleanly (see `watchdog`).
    """

    def __init__(self, home: Path, *, redis_program: Path | None = None) -> None:
        self.postgres = EmbeddedPostgres(home)
        self.redis = EmbeddedRedis(home, program=redis_program)

    @property
    def database_url(self) -> str:
        """Superuser address of the database `agentic_rag`; raises EMBEDDED_NOT_RUNNING before `start`."""
        return self.postgres.url

    @property
    def redis_url(self) -> str:
        """Address of the Redis database 0; raises EMBEDDED_NOT_RUNNING before `start`."""
        return self.redis.url

    @property
    def running(self) -> bool:
        """Whether both servers run."""
        return self.postgres.running and self.redis.running

    def start(self) -> Self:
        """Start or attach to both; when one fails the other is stopped and its EmbeddedServerError raised."""
        try:
            self._on_both(EmbeddedServer.start)
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """Stop what this stack started; may be called again."""
        self._on_both(EmbeddedServer.stop)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _on_both(self, action: Callable[[EmbeddedServer], object]) -> None:
        """Run `action` on each server at once; raises the first error after both are done."""
        with ThreadPoolExecutor(2, thread_name_prefix="embedded") as pool:
            for done in [pool.submit(action, server) for server in (self.postgres, self.redis)]:
                done.result()
