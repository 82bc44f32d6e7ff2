"""Tells what a process is: `python -m tests.programs.probe [exit|raise|wait]`, compared by tests/integration."""

from __future__ import annotations

import atexit
import gc
import json
import locale
import os
import random
import resource
import signal
import sys
import tempfile
import threading
import time
from typing import Any

import numpy as np
from prometheus_client import REGISTRY


def told() -> dict[str, Any]:
    """What must be the same in a forked process and in a started one."""
    main = sys.modules["__main__"]
    return {
        "argv": sys.argv,
        "orig_argv": sys.orig_argv,
        "executable": sys.executable,
        "flags": str(sys.flags),
        "path": sys.path,
        "main": (main.__name__, main.__spec__.name if main.__spec__ else None, main.__file__),
        "names of main": sorted(set(vars(main)) - {"__annotations__"}),
        "cwd": os.getcwd(),
        "environ": dict(sorted(os.environ.items())),
        "fds": sorted(fd for fd in map(int, os.listdir("/proc/self/fd")) if os.path.exists(f"/proc/self/fd/{fd}")),
        "parent": os.getppid(),
        "leads its session": os.getsid(0) == os.getpid(),
        "umask": os.umask(0o22),
        "limits": [resource.getrlimit(number) for number in (resource.RLIMIT_NOFILE, resource.RLIMIT_AS)],
        "signals": {number.name: str(signal.getsignal(number)).split(" at ")[0] for number in signal.Signals},
        "blocked": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, ())),
        "threads": [thread.name for thread in threading.enumerate()],
        "streams": [
            [getattr(stream, name) for name in ("encoding", "errors", "newlines", "line_buffering", "write_through")]
            + [type(stream.buffer).__name__, stream.mode, stream.name, stream is original]
            for stream, original in zip(
                (sys.stdin, sys.stdout, sys.stderr), (sys.__stdin__, sys.__stdout__, sys.__stderr__), strict=True
            )
        ],
        "locale": (locale.getlocale(), locale.setlocale(locale.LC_CTYPE), locale.getpreferredencoding()),
        "zone": time.tzname,
        "folder for files": tempfile.gettempdir(),
        "collector": (gc.get_threshold(), gc.isenabled(), gc.get_freeze_count()),
        "collectors of metrics": sorted(name for name in REGISTRY._names_to_collectors),
        "product": float((np.ones((300, 300)) @ np.ones((300, 300))).sum()),
        "modules of tests": sorted(name for name in sys.modules if name.split(".")[0] in ("tests", "pytest")),
    }


def main() -> None:
    """Tell, and end as asked."""
    how = sys.argv[1] if len(sys.argv) > 1 else ""
    atexit.register(print, "the end")
    print(json.dumps({"told": told(), "drawn": [random.random(), os.urandom(4).hex(), os.getpid()]}), flush=True)
    print(sys.stdin.readline(), end="")
    if how == "exit":
        sys.exit(3)
    if how == "raise":
        raise LookupError("as asked")
    if how == "wait":
        time.sleep(600)


if __name__ == "__main__":
    main()
