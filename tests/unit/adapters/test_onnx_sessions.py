"""onnxruntime makes an id of the machine and reports to its maker, unless it is told not to."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from agentic_rag.adapters.onnx import unit_reader
from agentic_rag.settings import child_environment

pytest.importorskip("onnxruntime", reason="component: onnxruntime")
READER = Path(unit_reader.__file__).with_name("reader") / unit_reader.UNITS_FILE
OURS = "from agentic_rag.adapters.onnx.session import open_session as open_model; arguments = (1,)"
THEIRS = "from onnxruntime import InferenceSession as open_model; arguments = ()"


PASSED_ON = {"HOME", "PATH", "PYTHONPATH", "LD_LIBRARY_PATH"}
LONGEST = 20.0
"""Seconds for the library's own thread to write."""
WAITS = """
import time
end = time.monotonic() + {seconds}
while time.monotonic() < end and not any(Path({home!r}).rglob("deviceid")):
    time.sleep(0.02)
"""


def left_in(home: Path, opened: str, seconds: float) -> list[Path]:
    """What a process that opens a model, and lives so long or until the id is there, leaves in the home of its user."""
    home.mkdir()
    program = f"from pathlib import Path; {opened}; open_model(Path({str(READER)!r}), *arguments)\n"
    program += WAITS.format(seconds=seconds, home=str(home))
    # The guards of the tests tell the library to be silent, and it is silent by itself where it sees a CI's variables.
    environment = {name: value for name, value in child_environment({"HOME": str(home)}).items() if name in PASSED_ON}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True, timeout=120)
    return list(home.rglob("*"))


@pytest.mark.slow
def test_a_model_that_is_opened_leaves_nothing_behind_and_tells_nobody(tmp_path: Path) -> None:
    began = time.monotonic()
    # What it would leave where nobody tells it.
    assert [one.name for one in left_in(tmp_path / "theirs", THEIRS, LONGEST) if one.name == "deviceid"]
    assert left_in(tmp_path / "ours", OURS, min(1.0, time.monotonic() - began)) == []
