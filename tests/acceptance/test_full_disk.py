"""A running system whose disk fills up: every command says so by code, a doctor names the place, and with space again
all goes on.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.programs import PACKAGES, ROOT
from tests.stack import open_home

from agentic_rag.embedded.loopback import free_port

pytestmark = [pytest.mark.integration, pytest.mark.network, pytest.mark.nightly, pytest.mark.timeout(300)]

SCRIPT = f"""
set -u
rag() {{ {sys.executable} -m agentic_rag_cli "$@"; }}
try() {{
  rag "$@" > out 2> err < /dev/null
  echo $? > rc
  {sys.executable} - "$PHASE" "$@" <<'END'
import json, sys
print(json.dumps([sys.argv[1], sys.argv[2:], int(open("rc").read()), open("out").read(), open("err").read()]))
END
}}
mkdir home documents
mount -t tmpfs -o size=200m none home
echo "The relief valve opens at 3 bar." > documents/valve.md
{sys.executable} -m agentic_rag_cli up > up.out 2> up.err < /dev/null &
up=$!
until grep -q "Ctrl-C stops everything" up.out; do kill -0 $up || exit 1; sleep 0.2; done
PHASE=before
try ingest documents --workspace plant
head -c 300m /dev/zero > home/fill 2> /dev/null
echo "The pump is checked in May." > documents/pump.md
PHASE=full
try ask "When does the relief valve open?" --workspace plant
try ingest documents --workspace plant
try upload documents/pump.md --workspace plant
try upload documents/pump.md --workspace plant --url "$(cat home/server-url)"
try snapshot create --workspace plant
try backup create home/backup
try doctor --json
kill -TERM $up
wait $up
PHASE=stopped
try doctor --json
try ingest documents --workspace plant
try up
rm home/fill
PHASE=after
try ingest documents --workspace plant
try ask "When is the pump checked?" --workspace plant
"""


def test_every_command_names_the_full_disk_and_goes_on_when_it_is_not_full_any_more() -> None:
    inside = ("unshare", "--mount", "sh", "-c")
    is_there = shutil.which("unshare") is not None and os.geteuid() == 0
    if not is_there or subprocess.run([*inside, "mount -t tmpfs none /mnt"], capture_output=True).returncode:
        pytest.skip("no file system of its own can be mounted here, or not by one who may start servers on it")
    folder = open_home("agentic-rag-full-")

    tries = told(folder, *inside, SCRIPT)
    shutil.rmtree(folder)

    assert [(one.words, one.error) for one in tries if "Traceback" in one.error] == []
    assert [(one.words, one.error) for one in tries if one.phase in ("before", "after") and one.code] == []
    full = [one for one in tries if one.phase in ("full", "stopped") and one.words[0] not in ("ask", "doctor")]
    assert len(full) == 7
    assert [
        (one.words, one.code, one.error) for one in full if one.code != 4 or "[STORAGE_FULL]" not in one.error
    ] == []
    for doctor in (one for one in tries if one.words[0] == "doctor"):
        checks = {check["name"]: check for check in json.loads(doctor.out)}
        assert (doctor.code, checks["home"]["code"]) == (4, "STORAGE_FULL")
        assert "home" in checks["home"]["detail"]
    (first, last) = (one for one in tries if one.words[0] == "ask")
    assert first.code == 0
    assert "3 bar" in first.out
    assert "May" in last.out


class Try:
    """A command, when it was tried, and what it ended with."""

    def __init__(self, told: list[Any]) -> None:
        self.phase, self.words, self.code, self.out, self.error = told


def told(folder: Path, *command: str) -> list[Try]:
    done = subprocess.run(
        command,
        cwd=folder,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "PYTHONPATH": os.pathsep.join(str(ROOT / package) for package in PACKAGES),
            "AGENTIC_RAG_HOME": "home",
            "AGENTIC_RAG_PORT": str(free_port()),
            "AGENTIC_RAG_WORKER_METRICS_PORT": "0",
            "RAG_EMBEDDER": "deterministic",
        },
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return [Try(json.loads(line)) for line in done.stdout.splitlines()]
