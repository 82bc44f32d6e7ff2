"""Opens a model file. The only place that imports onnxruntime: it reports to its maker unless it is told not to."""

# onnxruntime has no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

_SILENT = "ORT_DISABLE_TELEMETRY"
"""Read by the library when it is loaded: nothing is sent, and no id of the machine is made (its Privacy.md)."""


def open_session(model: Path, threads: int) -> InferenceSession:
    """A session on the processor alone. Errors: `ImportError` without onnxruntime, and the library's own."""
    os.putenv(_SILENT, "1")
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
