"""The base of the embedded Postgres and Redis: one owner, attached guests, a port and a password."""

import secrets
import time
from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar, Self

from agentic_rag.embedded.errors import EmbeddedServerError, start_failure
from agentic_rag.embedded.loopback import HOST, free_port, is_free
from agentic_rag.embedded.os_user import OsUser
from agentic_rag.embedded.process import Launch, WatchedProcess
from agentic_rag.embedded.state import FileLock, ServerState, make_directory, usable_home

_POLL_SECONDS = 0.01
_PORT_ATTEMPTS = 3
_LOG_LINES_SHOWN = 12
_LOG_BYTES_KEPT = 10 * 1024 * 1024
_PORT_TAKEN_PHRASES = ("Address already in use", "could not bind", "Could not create server TCP")


class EmbeddedServer(ABC):
    """A database server on loopback whose files live in `home/NAME`.

    The first process that calls `start` owns the server; it stops with that process, however that ends.
    Others that call `start` or `attach` meanwhile use the same server and leave it running; one that outlives
    the owner calls `take_over`. `port` insists on a port; otherwise the port of the last start is taken again
    when it is free. Not safe for use by several threads at once.
    """

    name: ClassVar[str]

    def __init__(self, home: Path, *, port: int | None = None, start_seconds: float = 60.0) -> None:
        self.home = home
        self.directory = home / self.name
        self.log = self.directory / f"{self.name}.log"
        self._life_file = self.directory / "life.lock"
        self._owner_file = self.directory / "owner.lock"
        self._state_file = self.directory / "server.json"
        self.account = OsUser.for_current_user()
        self._wanted_port = port
        self._start_seconds = start_seconds
        self._state: ServerState | None = None
        self._life: FileLock | None = None
        self._ownership: FileLock | None = None
        self._process: WatchedProcess | None = None
        self._log_mark = 0

    @abstractmethod
    def _prepare(self, state: ServerState, life: int) -> None:
        """Make the data directory ready for `_launch`; the life lock's descriptor goes to child processes."""

    @abstractmethod
    def _launch(self, state: ServerState) -> Launch:
        """The command that starts the server and the signals that stop it."""

    def _ready(self, state: ServerState, pid: int) -> bool:
        """Whether our own server process `pid` takes connections."""
        return self._answers(state)

    @abstractmethod
    def _answers(self, state: ServerState) -> bool:
        """Whether somebody's running server takes connections."""

    @abstractmethod
    def _url(self, state: ServerState) -> str:
        """Address of the server, credentials included."""

    @property
    def url(self) -> str:
        """Address of the server, credentials included; raises EMBEDDED_NOT_RUNNING before `start`."""
        if self._state is None:
            raise self._not_running()
        return self._url(self._state)

    @property
    def is_owner(self) -> bool:
        """Whether this object started the server, in full, and will stop it."""
        return self._life is not None and self._state is not None

    @property
    def has_owner(self) -> bool:
        """Whether the process that started a server in this home still lives, even where the server does not answer."""
        return FileLock.has_holder(self._owner_file)

    @property
    def has_data(self) -> bool:
        """Whether a server ran in this home before."""
        return (self.directory / "data").exists()

    @property
    def running(self) -> bool:
        """Whether the server this object started or attached to still takes connections."""
        if self._process is not None or self._life is not None:
            return self._process is not None and self._process.running
        return self._state is not None and self._answers(self._state)

    def start(self) -> str:
        """Start the server, or attach to the one another process runs; returns its address.

        Raises EmbeddedServerError with any of its codes; nothing is left running then.
        """
        if self._state is not None:
            return self.url
        with usable_home(self.home):
            self._make_directories()
        deadline = time.monotonic() + self._start_seconds
        while time.monotonic() < deadline:
            with usable_home(self.home):
                life = FileLock.try_acquire(self._life_file)
            if life is not None:
                return self._start_as_owner(life)
            if self._try_attach():
                return self.url
            time.sleep(_POLL_SECONDS)
        raise self.failure(
            f"another process has held {self._life_file} for {self._start_seconds:.0f} s, "
            "but its server does not answer: end that process, then try again"
        )

    def revive(self) -> None:
        """Start the server that this object started again after it died, with its data, port and password.

        Raises EmbeddedServerError; may be called again then.
        """
        if self._state is None or self._life is None:
            raise self._not_running()
        if self._process is not None:
            self._process.stop()
            self._process = None
        with usable_home(self.home):
            self._prepare(self._state, self._life.descriptor)
            if not self._run(self._state, self._life):
                raise self._port_in_use(self._state.port)

    def take_over(self) -> None:
        """Start the server that this object attached to, after its owner has gone, with its data, port and password;
        or attach to it again where another process was faster.

        Raises EmbeddedServerError, PORT_IN_USE among them; may be called again then.
        """
        former = self._state
        if former is None or self._life is not None:
            raise self._not_running()
        wanted, self._wanted_port, self._state = self._wanted_port, former.port, None
        try:
            url = self.start()
        except BaseException:
            self._state = former
            raise
        finally:
            self._wanted_port = wanted
        if url != self._url(former):
            self.stop()
            self._state = former
            raise self._port_in_use(former.port)

    def attach(self) -> str:
        """Address of the server another process runs; raises EMBEDDED_NOT_RUNNING when there is none."""
        if self._state is not None:
            return self.url
        with usable_home(self.home):
            if self._try_attach():
                return self.url
        raise self._not_running()

    def stop(self) -> None:
        """Stop the server if this object started it; forget it otherwise. May be called again."""
        # First the ownership: nobody must attach to a server on its way out.
        if self._ownership is not None:
            self._ownership.close()
            self._ownership = None
        if self._process is not None:
            self._process.stop()
            self._process = None
        if self._life is not None:
            self._life.close()
            self._life = None
        self._state = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _make_directories(self) -> None:
        """Create home and the server's folder; check that the server's account can get there."""
        for directory in (self.home, self.directory):
            if not directory.exists():
                make_directory(directory, self.account.directory_mode)
        if (barrier := self.account.barrier(self.directory / "data")) is not None:
            raise EmbeddedServerError(
                "EMBEDDED_HOME_UNUSABLE",
                f"The server runs as the unprivileged user id {self.account.uid}, which may not enter "
                f"{barrier}: set AGENTIC_RAG_HOME to a folder others may pass through, such as "
                "/var/lib/agentic-rag.",
            )

    def _try_attach(self) -> bool:
        """Use the server of a living owner, if it answers."""
        if not self.has_owner:
            return False
        state = ServerState.load(self._state_file)
        if state is None or not self._answers(state):
            return False
        self._state = state
        return True

    def _start_as_owner(self, life: FileLock) -> str:
        self._life = life
        try:
            with usable_home(self.home):
                # Waits for nobody but those who just look whether it is held.
                self._ownership = FileLock.acquire(self._owner_file)
                self._shorten_log()
                self._run_on_some_port(life)
        except BaseException:
            self.stop()
            raise
        return self.url

    def _run_on_some_port(self, life: FileLock) -> None:
        """Start on the wanted, the stored or a new port; another program may take it under our hands."""
        stored = ServerState.load(self._state_file)
        for _ in range(_PORT_ATTEMPTS):
            port = self._choose_port(stored)
            state = ServerState(port, stored.password if stored else secrets.token_urlsafe(24))
            self._prepare(state, life.descriptor)
            if state != stored:
                state.save(self._state_file)
                stored = state
            if self._run(state, life):
                self._state = state
                return
        raise self.failure(f"no free port was found in {_PORT_ATTEMPTS} attempts")

    def _choose_port(self, stored: ServerState | None) -> int:
        if self._wanted_port is not None:
            if not is_free(self._wanted_port):
                raise self._port_in_use(self._wanted_port)
            return self._wanted_port
        return stored.port if stored and is_free(stored.port) else free_port()

    def _run(self, state: ServerState, life: FileLock) -> bool:
        """Start the process and wait until it is ready; False when its port was taken meanwhile."""
        self._log_mark = self.log.stat().st_size if self.log.exists() else 0
        self._process = WatchedProcess.start(self._launch(state), self.account, self.log, life.descriptor)
        deadline = time.monotonic() + self._start_seconds
        while self._process.running:
            if self._ready(state, self._process.pid):
                return True
            if time.monotonic() > deadline:
                raise self.failure(f"it was not ready after {self._start_seconds:.0f} s")
            time.sleep(_POLL_SECONDS)
        self._process.stop()
        self._process = None
        if not any(phrase in line for phrase in _PORT_TAKEN_PHRASES for line in self._last_log_lines()):
            raise self.failure("it ended while starting")
        if self._wanted_port is not None:
            raise self._port_in_use(self._wanted_port)
        return False

    def _shorten_log(self) -> None:
        """Keep one old log, so that neither grows without end."""
        if self.log.exists() and self.log.stat().st_size > _LOG_BYTES_KEPT:
            self.log.replace(self.log.with_suffix(".log.old"))

    def _last_log_lines(self) -> list[str]:
        """The end of what this start wrote to the log."""
        if not self.log.exists():
            return []
        with self.log.open("rb") as file:
            file.seek(self._log_mark)
            return file.read().decode("utf-8", "replace").splitlines()[-_LOG_LINES_SHOWN:]

    def failure(self, reason: str) -> EmbeddedServerError:
        """The error for a server that does not stay, with the end of its log."""
        shown = "\n".join(f"  {line}" for line in self._last_log_lines())
        return start_failure(f"The embedded {self.name} did not start: {reason}. Log: {self.log}\n{shown}".rstrip())

    def _port_in_use(self, port: int) -> EmbeddedServerError:
        return EmbeddedServerError(
            "PORT_IN_USE",
            f"Port {port} of {HOST} is taken by another program: stop it, or let the embedded {self.name} "
            "choose a free port.",
        )

    def _not_running(self) -> EmbeddedServerError:
        return EmbeddedServerError(
            "EMBEDDED_NOT_RUNNING",
            f"No embedded {self.name} runs under {self.home}: start one with `rag up`.",
        )
