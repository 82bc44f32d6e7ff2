"""Imports the product once, and forks a process that runs one of its modules for each wish that comes by its socket.

`tests.programs` starts it and says how; it never imports `tests`, so that programs hold what they import themselves. It
has one thread, no event loop, and nothing of the product but modules.
"""

from __future__ import annotations

import gc
import importlib
import io
import json
import os
import runpy
import socket
import sys
import tempfile
import time
import types
from typing import Any, ClassVar

IMPORTED = (
    "agentic_rag_cli.main",
    "agentic_rag_cli.commands.evaluation.eval_asking",
    "agentic_rag_migrations.apply",
    "agentic_rag_migrations.upgrade",
    "agentic_rag_server.main",
    "agentic_rag_worker.worker",
    "agentic_rag.embedded.stack",
    "neo4j",
    "obstore.store",
    "openai",
    "uvloop",
)
ERRORS = 2
FIRST_OTHER_FD = 3


def main() -> None:
    """Fork until the test ends; in each child run what was wished for."""
    gc.set_threshold(50_000, 20, 50)
    # The folder of this file; that of the program takes its place.
    del sys.path[0]
    line = socket.socket(fileno=int(sys.argv[1]))
    names = json.dumps(_import_all()).encode()
    line.sendall(len(names).to_bytes(4, "big") + names)
    gc.collect()
    while head := _received(line):
        length, streams = head
        wish = json.loads(_exactly(line, length))
        if (child := _forked(streams)) is None:
            _become(wish)
            return
        for stream in streams:
            os.close(stream)
        line.sendall(child.to_bytes(4, "big"))
    os._exit(0)


class _Noting(os._Environ):  # type: ignore[type-arg]
    """Notes which variables are asked for by name."""

    names: ClassVar[set[str]] = set()

    def __getitem__(self, name: str) -> str:
        self.names.add(name)
        return super().__getitem__(name)

    def items(self) -> Any:
        return {self.decodekey(name): self.decodevalue(value) for name, value in self._data.items()}.items()  # type: ignore[attr-defined]


def _import_all() -> list[str]:
    """The variables that modules read when they are imported: programs must find them as they are here."""
    os.environ.__class__ = _Noting
    for name in IMPORTED:
        importlib.import_module(name)
    # `rag` imports a command when it is asked for.
    from agentic_rag_cli.commands_by_name import CommandsByName

    list(CommandsByName().values())
    os.environ.__class__ = os._Environ
    return sorted(_Noting.names)


def _received(line: socket.socket) -> tuple[int, list[int]] | None:
    head, streams, _, _ = socket.recv_fds(line, 4, 3)
    return (int.from_bytes(head, "big"), list(streams)) if head else None


def _exactly(line: socket.socket, length: int) -> bytes:
    found = b""
    while len(found) < length:
        found += line.recv(length - len(found))
    return found


def _forked(streams: list[int]) -> int | None:
    """The id of a grandchild that its parent left: it belongs to the test. None: this is the grandchild."""
    released, release = os.pipe()
    told, tell = os.pipe()
    between = os.fork()
    if between == 0:
        child = os.fork()
        if child != 0:
            os.write(tell, child.to_bytes(4, "big"))
            os._exit(0)
        os.close(release)
        # Its parent is the test before its first step.
        os.read(released, 1)
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        return None
    os.waitpid(between, 0)
    child = int.from_bytes(os.read(told, 4), "big")
    for end in (released, release, told, tell):
        os.close(end)
    return child


def _become(wish: dict[str, Any]) -> None:
    """Do what `python -m WORDS` does in the given folder and environment."""
    os.closerange(FIRST_OTHER_FD, os.sysconf("SC_OPEN_MAX"))
    if wish["new_session"]:
        os.setsid()
    os.chdir(wish["cwd"])
    _take_environment(wish["environ"])
    paths = os.environ["PYTHONPATH"].split(os.pathsep)
    sys.path[:] = [wish["cwd"], *paths, *(entry for entry in sys.path if entry not in paths)]
    importlib.invalidate_caches()
    module, *arguments = wish["words"]
    sys.orig_argv = [sys.executable, "-m", module, *arguments]
    sys.argv = ["-m", *arguments]
    gc.set_threshold(700, 10, 10)
    tempfile.tempdir = None
    _open_streams()
    sys.modules["__main__"] = types.ModuleType("__main__")
    runpy._run_module_as_main(module)  # type: ignore[attr-defined]


def _take_environment(environ: dict[str, str]) -> None:
    # An interpreter that is started without a locale sets this (PEP 538).
    coerced = {name: value for name, value in os.environ.items() if name == "LC_CTYPE"}
    os.environ.clear()
    os.environ.update(environ | coerced)
    time.tzset()


def _open_streams() -> None:
    """Streams that have read and written nothing yet."""
    unbuffered = bool(os.environ.get("PYTHONUNBUFFERED"))
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        raw = io.FileIO(number, "wb" if number else "rb", closefd=False)
        raw.name = f"<{name}>"  # type: ignore[misc]
        direct: Any = raw if unbuffered and number else io.BufferedWriter(raw) if number else io.BufferedReader(raw)
        old = getattr(sys, name)
        stream = io.TextIOWrapper(
            direct,
            encoding=old.encoding,
            errors=old.errors,
            newline="\n",
            line_buffering=not unbuffered and (number == ERRORS or raw.isatty()),
            write_through=unbuffered,
        )
        stream.mode = old.mode  # type: ignore[misc]
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


if __name__ == "__main__":
    main()
