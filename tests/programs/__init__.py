"""Programs of the product that tests start by the dozen: real processes, forked from one that has imported it.

To import the product takes a start most of its processor time. `Program` is `subprocess.Popen` for commands of the form
`python -m MODULE ...`: the process that it gives is a child of the test, with arguments, environment, folder, streams,
session and signals of its own, and it ends like any other. What is read before the first import (a foreign PYTHONPATH,
the seed of hashes, the locale, options of the linker) asks for an interpreter of its own, and gets it.
tests/integration/test_programs.py compares the two kinds. Tests of the start itself use `subprocess`.
"""

from __future__ import annotations

import atexit
import ctypes
import inspect
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("core", "server", "worker", "cli", "eval", "migrations")
NURSERY = Path(__file__).with_name("nursery.py")

_ROOTS = [str(ROOT / package) for package in PACKAGES]
PYTHONPATH = os.pathsep.join([str(ROOT), *_ROOTS])
"""For programs of the product, and for modules of `tests`."""
_KNOWN_PATHS = {str(ROOT), *_ROOTS, str(ROOT / "clients" / "python")}
_READ_AT_START = ("PYTHON", "LD_", "LC_", "LANG", "MALLOC_", "GLIBC_", "OPENBLAS_", "OMP_", "OPENSSL_")
"""Beginnings of variables that interpreters and native libraries read before any module is imported."""
_HONOURED = {"PYTHONPATH", "PYTHONUNBUFFERED", "HOME"}
"""Those that a forked process obeys; at import `sysconfig` asks for HOME, and nobody for what it made of it."""
_SET_CHILD_SUBREAPER = 36


class Program(subprocess.Popen[Any]):
    """A process of the product; its start takes some milliseconds where it can be forked."""

    is_forked = False

    def _execute_child(self, *arguments: Any) -> None:
        start: Any = super()._execute_child  # type: ignore[misc]
        given = inspect.signature(start).bind(*arguments).arguments
        if not _can_be_forked(given):
            start(*arguments)
            return
        streams = [
            stream if stream != -1 else number
            for number, stream in enumerate((given["p2cread"], given["c2pwrite"], given["errwrite"]))
        ]
        self.pid = _nursery().fork(
            [os.fspath(word) for word in given["args"][2:]],
            {os.fsdecode(name): os.fsdecode(value) for name, value in given["env"].items()},
            os.fspath(given["cwd"] or Path.cwd()),
            given["start_new_session"],
            streams,
        )
        self.is_forked = True
        self._child_created = True
        ends = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")
        self._close_pipe_fds(*(given[end] for end in ends))  # type: ignore[attr-defined]


def run(command: Sequence[str], *, check: bool = False, **options: Any) -> subprocess.CompletedProcess[Any]:
    """`subprocess.run` with a `Program`; output is captured."""
    timeout = options.pop("timeout", 120)
    with Program(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options) as ran:
        try:
            out, err = ran.communicate(timeout=timeout)
        except BaseException:
            ran.kill()
            raise
    done = subprocess.CompletedProcess(command, ran.returncode, out, err)
    if check and done.returncode:
        raise AssertionError(f"{command} ended with {done.returncode}: {out!r} {err!r}")
    return done


def _can_be_forked(given: Mapping[str, Any]) -> bool:
    command, environ = given["args"], given["env"]
    usual = {"preexec_fn": None, "pass_fds": (), "shell": False, "gid": None, "gids": None, "uid": None, "umask": -1}
    return (
        sys.platform == "linux"
        and not isinstance(command, str | bytes)
        and list(command[:2]) == [sys.executable, "-m"]
        and environ is not None
        and all(given[name] == value for name, value in usual.items())
        and given["process_group"] == -1
        and given["close_fds"]
        and _has_this_product(environ.get("PYTHONPATH", ""))
        and not any(name.startswith(_READ_AT_START) and name not in _HONOURED for name in environ)
        and not _nursery().names_read & environ.keys() - _HONOURED
    )


def _has_this_product(path: str) -> bool:
    """Whether modules come from this checkout, and nothing else comes before the installed ones."""
    entries = set(path.split(os.pathsep))
    return entries <= _KNOWN_PATHS and entries >= set(_ROOTS)


class _Nursery:
    """The process that imported the product and waits; it ends with this one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        ours, its = socket.socketpair()
        self._line = ours
        kept = {name: value for name, value in os.environ.items() if not name.startswith(_READ_AT_START)}
        with its:
            self._process = subprocess.Popen(
                [sys.executable, NURSERY, str(its.fileno())],
                env={**kept, "PYTHONPATH": os.pathsep.join(_ROOTS)},
                pass_fds=(its.fileno(),),
                stdin=subprocess.DEVNULL,
            )
        atexit.register(self.close)
        self.names_read = set(json.loads(self._told(int.from_bytes(self._told(4), "big"))))
        """The variables that modules ask for when they are imported."""

    def fork(self, words: list[str], environ: dict[str, str], cwd: str, new_session: bool, streams: list[int]) -> int:
        """The id of a child of this process that runs module `words[0]`."""
        wish = json.dumps({"words": words, "environ": environ, "cwd": cwd, "new_session": new_session}).encode()
        libc = ctypes.CDLL(None)
        with self._lock:
            # Whom its parent leaves becomes ours, but only now: orphans of the product go where they always go.
            assert libc.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
            try:
                socket.send_fds(self._line, [len(wish).to_bytes(4, "big")], streams)
                self._line.sendall(wish)
                return int.from_bytes(self._told(4), "big")
            finally:
                assert libc.prctl(_SET_CHILD_SUBREAPER, 0, 0, 0, 0) == 0

    def _told(self, length: int) -> bytes:
        found = b""
        while len(found) < length:
            piece = self._line.recv(length - len(found))
            assert piece, f"the process that forks programs ended with {self._process.wait()}"
            found += piece
        return found

    def close(self) -> None:
        """End it."""
        self._line.close()
        self._process.wait()


_open: list[_Nursery] = []
_opening = threading.Lock()


def _nursery() -> _Nursery:
    with _opening:
        if not _open:
            _open.append(_Nursery())
        return _open[0]
