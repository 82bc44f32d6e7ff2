"""A terminal in which `rag` commands run one after the other, in one process: to import the product anew for each would
take longer than they do. tests/acceptance/test_cli_processes.py starts a process for each.
"""

from __future__ import annotations

import json
import subprocess
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType


class RagTerminal:
    """Its process starts with the first command, by a Python that has the product, and ends with the block."""

    def __init__(self, cwd: Path, environ: Mapping[str, str], python: str | Path = sys.executable) -> None:
        self._cwd = cwd
        self._environ = environ
        self._python = str(python)
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> RagTerminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            self._process.communicate(timeout=30)

    def run(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """What a command answers; `variables` are set for it alone."""
        process = self._process = self._process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps([arguments, variables]) + "\n")
        process.stdin.flush()
        code, out, err = json.loads(process.stdout.readline())
        return subprocess.CompletedProcess(["rag", *arguments], code, out, err)

    def rag(self, *arguments: str, **variables: str) -> str:
        """The output of a command that must succeed."""
        done = self.run(*arguments, **variables)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def _start(self) -> subprocess.Popen[str]:
        if self._python == sys.executable and "PYTHONPATH" in self._environ:
            from tests.programs import PYTHONPATH, Program

            return Program(
                [self._python, "-m", "tests.rag_terminal"],
                cwd=self._cwd,
                env={**self._environ, "PYTHONPATH": PYTHONPATH},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        return subprocess.Popen(
            # Without the folder of this file on its path.
            [self._python, "-P", str(Path(__file__).resolve())],
            cwd=self._cwd,
            env=dict(self._environ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )


def main() -> None:
    """Answer each line of commands with a line of their results."""
    from typer.testing import CliRunner

    from agentic_rag_cli.main import app

    for line in sys.stdin:
        arguments, variables = json.loads(line)
        done = CliRunner().invoke(app, arguments, env=variables, prog_name="rag")
        err = done.stderr
        if done.exc_info is not None and not isinstance(done.exception, SystemExit):
            err += "".join(traceback.format_exception(*done.exc_info))
        print(json.dumps([done.exit_code, done.stdout, err]), flush=True)


if __name__ == "__main__":
    main()
