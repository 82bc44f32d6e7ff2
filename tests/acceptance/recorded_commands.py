"""The programs that a block of commands starts, recorded: with which arguments and variables, and what they said.

Another shell is then given the same block: it is told the same replies, and must start the same. All that a shell can
do differently lies between two programs, so the block is not run twice.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

FOLDER = "RECORDED_COMMANDS"
MODE = "RECORDED_COMMANDS_MODE"
LIVE_ON = {"serve", "worker", "up"}
"""Commands of `rag` that end when they are told to."""
OF_THE_SHELL = {"PATH", "PWD", "OLDPWD", "SHLVL", "_", "LC_CTYPE", FOLDER, MODE}
NOT_RECORDED = 97

Call = tuple[str, ...]
"""A program, its arguments, and the variables that the block gave it."""


def install(folder: Path, programs: Path, real: dict[str, list[str]], environment: dict[str, str]) -> dict[str, str]:
    """Put a recorder in the place of each program of `real`, which says how to start it. The environment of a terminal
    whose calls are recorded below `folder`.
    """
    folder.mkdir()
    (folder / "real.json").write_text(json.dumps([real, environment]), "utf-8")
    for name in real:
        wrapper = programs / name
        wrapper.write_text(f'#!/bin/sh\nexec {sys.executable} {__file__} {name} "$@"\n', "utf-8")
        wrapper.chmod(0o755)
    return environment | {FOLDER: str(folder), MODE: "record"}


def replaying(environment: dict[str, str]) -> dict[str, str]:
    """The environment of a terminal that is told what the recorded one was."""
    shutil.rmtree(Path(environment[FOLDER], "replay"), ignore_errors=True)
    return environment | {MODE: "replay"}


def calls(environment: dict[str, str]) -> list[Call]:
    """What was started, in no order: some of it in the background."""
    return sorted(
        tuple(json.loads(one.read_text("utf-8"))) for one in Path(environment[FOLDER], environment[MODE]).glob("*.call")
    )


def forget(environment: dict[str, str]) -> None:
    """What was recorded so far, of an earlier block."""
    shutil.rmtree(Path(environment[FOLDER], environment[MODE]), ignore_errors=True)


def main(name: str, arguments: list[str]) -> int:
    mode, folder = os.environ.get(MODE), Path(os.environ[FOLDER])
    real, base = json.loads((folder / "real.json").read_text("utf-8"))
    command = [*real[name], *arguments]
    if not mode:
        os.execvp(command[0], command)
    given = {key: value for key, value in os.environ.items() if key not in OF_THE_SHELL and base.get(key) != value}
    call = [name, *arguments, *(f"{key}={value}" for key, value in sorted(given.items()))]
    place = folder / mode
    place.mkdir(exist_ok=True)
    (place / f"{os.getpid()}.call").write_text(json.dumps(call), "utf-8")
    reply = folder / "replies" / sha256(json.dumps(call).encode()).hexdigest()
    reply.parent.mkdir(exist_ok=True)
    if mode == "replay":
        if not reply.exists():
            print(f"another shell started no such program: {call}", file=sys.stderr)
            return NOT_RECORDED
        sys.stdout.write(reply.read_text("utf-8"))
        return 0
    # What it starts itself is its own affair.
    inner = {key: value for key, value in os.environ.items() if key != MODE}
    if name == "rag" and LIVE_ON.intersection(arguments):
        reply.touch()
        os.execvpe(command[0], command, inner)
    done = subprocess.run(command, env=inner, stdout=subprocess.PIPE, text=True)
    reply.write_text(done.stdout, "utf-8")
    sys.stdout.write(done.stdout)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
