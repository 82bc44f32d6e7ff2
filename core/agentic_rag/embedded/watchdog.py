"""The parent process of one embedded server: it stops the server as soon as its owner is gone.

Run as a script (`python -I -S watchdog.py`), standard library only. The owner writes one line of JSON to our
standard input, a socket, and then just keeps its end open. When it closes that, or dies in whatever way, we read
end-of-file and stop the server in an orderly fashion. So an orderly stop and a kill -9 of the owner take the
same path, and neither leaves an orphan. On Linux the server moreover receives its stop signal from the
kernel (PR_SET_PDEATHSIG) if the watchdog itself is killed; this process has one thread, so "the parent thread
died", which is what the kernel really watches, means that we died.

The first line on standard output is "started PID" or "failed REASON".
"""

import contextlib
import ctypes
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

_OWNER_GONE = 0
_PR_SET_PDEATHSIG = 1  # <linux/prctl.h>


def main() -> int:
    """Start the server described on standard input, wait for its end or the owner's, return its exit code."""
    wake = _wake_on_signals()
    request: dict[str, Any] = json.loads(os.fdopen(_OWNER_GONE, "rb", buffering=0, closefd=False).readline())
    try:
        server = _start(request)
    except (OSError, subprocess.SubprocessError) as error:
        _report(f"failed {error}")
        return 1
    _report(f"started {server.pid}")
    _until_server_or_owner_ends(server, wake)
    return _stop(server, request["stops"])


def _start(request: dict[str, Any]) -> "subprocess.Popen[bytes]":
    """Start the server as `user`, its output appended to the log, the life lock inherited."""
    log = os.open(request["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    user = request["user"]
    try:
        return subprocess.Popen(  # noqa: S603 - the owner's own words, no shell
            request["command"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd="/",
            env=request["environment"],
            user=user,
            group=request["group"],
            extra_groups=None if user is None else [],
            pass_fds=(request["life"],),
            preexec_fn=_die_with_parent(request["stops"][0][0]),
        )
    finally:
        os.close(log)


def _die_with_parent(stop_signal: int) -> Callable[[], None] | None:
    """A function that the child runs after changing its ids, which clears the request, and before the server."""
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None).prctl
    watchdog = os.getpid()

    def ask_kernel() -> None:
        prctl(_PR_SET_PDEATHSIG, stop_signal)
        if os.getppid() != watchdog:
            os._exit(1)

    return ask_kernel


def _wake_on_signals() -> int:
    """Descriptor that receives a byte per signal: a child ended, or a stop was requested."""
    readable, writable = os.pipe()
    os.set_blocking(writable, False)
    signal.set_wakeup_fd(writable)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _only_wake)
    return readable


def _only_wake(number: int, frame: FrameType | None) -> None:
    """Do nothing: the byte written to the wake-up descriptor is enough."""


def _until_server_or_owner_ends(server: "subprocess.Popen[bytes]", wake: int) -> None:
    while server.poll() is None:
        ready, _, _ = select.select([_OWNER_GONE, wake], [], [])
        if _OWNER_GONE in ready and not os.read(_OWNER_GONE, 1024):
            return
        if wake in ready and {signal.SIGTERM, signal.SIGINT} & set(os.read(wake, 64)):
            return


def _stop(server: "subprocess.Popen[bytes]", stops: list[list[float]]) -> int:
    """Send each signal in turn, with the seconds it is given, until the server has ended."""
    for number, seconds in stops:
        if server.poll() is not None:
            break
        server.send_signal(int(number))
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(seconds)
    server.kill()
    return server.wait()


def _report(line: str) -> None:
    with contextlib.suppress(BrokenPipeError):
        os.write(sys.stdout.fileno(), (line.replace("\n", " ") + "\n").encode())


if __name__ == "__main__":
    sys.exit(main())
