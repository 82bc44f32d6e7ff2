"""What a confined process cannot do, asked of the operating system itself and not of Python."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from pathlib import Path

import pytest

CORE = Path(__file__).parents[3] / "core"

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() not in ("x86_64", "aarch64"), reason="component: a Linux kernel"
)


def confined(attempt: str, target: Path) -> dict[str, object]:
    """What `attempt` leaves in `found`, run behind the walls. `libc` was opened before: audit hooks do not see it."""
    program = (
        "import ctypes, json, os\n"
        "from agentic_rag.adapters.parsing.process.child import confine\n"
        "from agentic_rag.adapters.parsing.process.limits import ParserLimits\n"
        f"TARGET = {str(target)!r}\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "def tried(result):\n    return (result, ctypes.get_errno())\n"
        "found = {'walls': confine(ParserLimits())}\n"
        f"found['got'] = {attempt}\n"
        "os.write(1, json.dumps(found).encode())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env={"PYTHONPATH": str(CORE)}, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    "attempt",
    [
        "tried(libc.open(b'/etc/hostname', 0))",
        "tried(libc.open(TARGET.encode(), 0))",
        "tried(libc.creat(TARGET.encode(), 0o600))",
        "tried(libc.unlink(TARGET.encode()))",
        "tried(libc.socket(2, 1, 0))",
        "tried(libc.socket(2, 2, 0))",
        "tried(libc.socket(1, 1, 0))",
        "tried(libc.fork())",
        "tried(libc.execv(b'/bin/true', None))",
        "tried(libc.kill(os.getppid(), 0))",
        "tried(libc.ptrace(16, os.getppid(), 0, 0))",
        "tried(libc.prctl(22, 0, 0, 0, 0))",
        "tried(libc.dup(0))",
    ],
)
def test_the_kernel_refuses_files_sockets_and_processes(attempt: str, tmp_path: Path) -> None:
    target = tmp_path / "there"
    target.write_text("content", encoding="utf-8")

    found = confined(attempt, target)

    result, errno = found["got"]  # type: ignore[misc]
    assert result == -1
    assert errno != 0
    assert target.read_text(encoding="utf-8") == "content"


def test_memory_time_and_the_pipes_still_work(tmp_path: Path) -> None:
    found = confined("len(bytearray(50_000_000)) + libc.getpid() * 0", tmp_path / "none")

    assert found["got"] == 50_000_000
    assert {"limits", "landlock", "seccomp", "audit"} <= {*found["walls"]}  # type: ignore[misc]


def test_a_process_holds_no_more_memory_than_its_limit(tmp_path: Path) -> None:
    grow = "[n for n in (400, 512) if _fits(n)]"
    attempt = (
        "(lambda: None)()\n"
        "def _fits(n):\n    try:\n        return bytearray(n << 20) is not None\n    except MemoryError:\n"
        "        return False\n"
        f"found['got'] = {grow}"
    )

    found = confined(attempt, tmp_path / "none")

    assert found["got"] == [400]
