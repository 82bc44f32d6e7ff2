"""A server process under a watchdog: it ends when its owner closes the connection to the watchdog, or dies."""

import json
import signal
import socket
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from agentic_rag.embedded import watchdog
from agentic_rag.embedded.errors import EmbeddedServerError
from agentic_rag.embedded.os_user import OsUser

CLEAN_ENVIRONMENT = {"LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin", "TZ": "UTC"}
"""Servers get this and nothing else: PGPORT, PGOPTIONS and the like of the user's shell must not count."""

_WATCHDOG_MARGIN_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class StopStep:
    """A signal and the seconds the server has to end after it."""

    signal: signal.Signals
    seconds: float


@dataclass(frozen=True, slots=True)
class Launch:
    """A server's command line and the signals that stop it, gentlest first (SIGKILL follows by itself)."""

    command: tuple[str, ...]
    stops: tuple[StopStep, ...]


class WatchedProcess:
    """A server under a watchdog; it lives until `stop`, or until this process ends."""

    def __init__(
        self,
        process: "subprocess.Popen[bytes]",
        lifeline: socket.socket,
        stops: tuple[StopStep, ...],
        pid: int,
    ) -> None:
        self._process = process
        self._lifeline = lifeline
        self._stops = stops
        self.pid = pid

    @classmethod
    def start(cls, launch: Launch, account: OsUser, log: Path, life: int) -> "WatchedProcess":
        """Start a watchdog in a session of its own, so that Ctrl-C in a terminal reaches the owner only.

        Raises EMBEDDED_START_FAILED when the program cannot be executed.
        """
        request = {
            "command": launch.command,
            "environment": CLEAN_ENVIRONMENT,
            "group": account.gid,
            "life": life,
            "log": str(log),
            "stops": [(int(step.signal), step.seconds) for step in launch.stops],
            "user": account.uid,
        }
        lifeline, watchdog_end = socket.socketpair()
        with watchdog_end:
            process = subprocess.Popen(  # noqa: S603 - our own script, no shell
                [sys.executable, "-I", "-S", watchdog.__file__],
                stdin=watchdog_end.fileno(),
                stdout=watchdog_end.fileno(),
                cwd="/",
                start_new_session=True,
                pass_fds=(life,),
            )
        lifeline.sendall(json.dumps(request).encode() + b"\n")
        with lifeline.makefile("rb") as report:
            outcome, _, detail = report.readline().decode().strip().partition(" ")
        if outcome != "started":
            cls(process, lifeline, launch.stops, 0).stop()
            raise EmbeddedServerError(
                "EMBEDDED_START_FAILED", f"{launch.command[0]} could not be executed: {detail or 'no answer'}"
            )
        return cls(process, lifeline, launch.stops, int(detail))

    @property
    def running(self) -> bool:
        """Whether the server still runs."""
        return self._process.poll() is None

    def stop(self) -> None:
        """Close the connection to the watchdog and wait until the server has ended."""
        self._lifeline.close()
        try:
            self._process.wait(sum(step.seconds for step in self._stops) + _WATCHDOG_MARGIN_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
