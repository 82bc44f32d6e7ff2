"""An operator pins every image by digest with one command."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from scripts.pin_images import FILES, NAMED, OURS, digest_of, pin, unpinned

DIGEST = "sha256:" + "0f" * 32


@pytest.fixture
def copies(tmp_path: Path) -> list[Path]:
    made = [tmp_path / path.name for path in FILES]
    for path, copy in zip(FILES, made, strict=True):
        copy.write_text(path.read_text("utf-8"), "utf-8")
    return made


def test_no_image_of_the_files_is_missed() -> None:
    for path in FILES:
        text = path.read_text("utf-8")
        stated = re.findall(r"(?:image:|syntax=|^ARG \w+=|^FROM )\s*(\S+)", text, re.M)
        named = {one["image"] for one in NAMED.finditer(text)}
        assert {one for one in stated if one != "${PYTHON}"} == named, path.name


def test_every_image_is_pinned_and_nothing_else_is_changed(copies: list[Path]) -> None:
    asked: list[str] = []

    def ask(image: str) -> str:
        asked.append(image)
        return DIGEST

    pin(copies, ask)

    assert asked == sorted(set(asked))
    assert OURS not in asked
    for path, copy in zip(FILES, copies, strict=True):
        assert unpinned(path.read_text("utf-8"))
        assert unpinned(copy.read_text("utf-8")) == set()
        assert copy.read_text("utf-8").replace(f"@{DIGEST}", "") == path.read_text("utf-8")
    assert pin(copies, ask) == {}


def test_a_registry_that_does_not_answer_leaves_the_files_as_they_are(
    copies: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docker = tmp_path / "docker"
    docker.write_text(f'#!/bin/sh\ncase "$*" in *grafana*) echo "no such host" >&2; exit 1;; *) echo {DIGEST};; esac\n')
    docker.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    with pytest.raises(SystemExit, match=r"grafana.*no such host"):
        pin(copies)

    assert digest_of("python:3.12") == DIGEST
    assert [one.read_text("utf-8") for one in copies] == [one.read_text("utf-8") for one in FILES]
