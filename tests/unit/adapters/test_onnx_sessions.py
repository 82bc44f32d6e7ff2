"""onnxruntime makes an id of the machine and reports to its maker, unless it is told not to."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from agentic_rag.adapters.onnx import unit_reader
from agentic_rag.settings import child_environment

pytest.importorskip("onnxruntime", reason="component: onnxruntime")
READER = Path(unit_reader.__file__).with_name("reader") / unit_reader.UNITS_FILE
OURS = "from agentic_rag.adapters.onnx.session import open_session as open_model; arguments = (1,)"
THEIRS = "from onnxruntime import InferenceSession as open_model; arguments = ()"


def left_in(home: Path, opened: str) -> list[Path]:
    """What a process that opens a model leaves in the home of its user."""
    home.mkdir()
    program = f"from pathlib import Path; {opened}; open_model(Path({str(READER)!r}), *arguments)"
    environment = child_environment({"HOME": str(home)})
    # The guards of the tests set it.
    environment.pop("ORT_DISABLE_TELEMETRY", None)
    subprocess.run([sys.executable, "-c", program], env=environment, check=True, timeout=120)
    return list(home.rglob("*"))


def test_a_model_that_is_opened_leaves_nothing_behind_and_tells_nobody(tmp_path: Path) -> None:
    assert left_in(tmp_path / "ours", OURS) == []
    # What it would leave where nobody tells it.
    assert [one.name for one in left_in(tmp_path / "theirs", THEIRS) if one.name == "deviceid"]
