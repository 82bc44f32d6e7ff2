"""A primary of Postgres and a streaming replica of it, as real servers."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path

import asyncpg

from agentic_rag.embedded.postgres import EmbeddedPostgres
from agentic_rag.embedded.process import Launch
from agentic_rag.embedded.state import ServerState
from tests.waiting import eventually

CAUGHT_UP = """
SELECT pg_last_wal_replay_lsn() >= $1::text::pg_lsn AND pg_last_wal_replay_lsn() >= pg_last_wal_receive_lsn()
   AND EXISTS (SELECT FROM pg_stat_wal_receiver)
"""


class Primary(EmbeddedPostgres):
    """Without waiting for the disk: it survives no power cut."""

    def _launch(self, state: ServerState) -> Launch:
        launch = super()._launch(state)
        return replace(launch, command=(*launch.command, "-c", "fsync=off", "-c", "synchronous_commit=off"))


class Replica(EmbeddedPostgres):
    """A copy of a running server, made by pg_basebackup, which replays what that server writes."""

    def __init__(self, home: Path, primary: str) -> None:
        super().__init__(home)
        self._primary = primary

    def _initialise(self, state: ServerState, life: int) -> None:
        state.save(self._state_file)
        maker = self.account.with_a_name()
        draft = self.directory / "data.new"
        draft.mkdir(mode=0o700)
        maker.give(draft)
        copy = ("pg_basebackup", "-D", str(draft), "-d", self._primary, "-R", "-X", "stream", "-c", "fast")
        self._run_tool(copy, maker, life)
        self.account.give_tree(draft)
        draft.rename(self._data)

    def _url(self, state: ServerState) -> str:
        return self._primary.rpartition("@")[0] + f"@127.0.0.1:{state.port}/agentic_rag"

    def kill(self) -> None:
        """kill -9."""
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGKILL)


async def caught_up(primary: str, replica: str) -> None:
    """Return when the replica has replayed all that was written before the call."""
    there, here = await asyncpg.connect(primary), await asyncpg.connect(replica)
    try:
        written = await there.fetchval("SELECT pg_current_wal_insert_lsn()::text")

        async def is_so() -> bool:
            return bool(await here.fetchval(CAUGHT_UP, written))

        await eventually(is_so, "the replica has replayed what was written", 30.0)
    finally:
        await there.close()
        await here.close()
