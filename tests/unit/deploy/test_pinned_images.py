"""An operator pins every image by digest with one command."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from scripts import pin_images
from scripts.pin_images import FILES, NAMED, OURS, digest_of, pin, pinned, unpinned

DIGEST = "sha256:" + "0f" * 32


def without_digests(text: str) -> str:
    """A file of the product as it comes: who runs the tests may have pinned it."""
    return re.sub(f"@{pin_images.DIGEST.pattern}", "", text)


TEXTS = [without_digests(path.read_text("utf-8")) for path in FILES]


@pytest.fixture
def copies(tmp_path: Path) -> list[Path]:
    made = [tmp_path / path.name for path in FILES]
    for text, copy in zip(TEXTS, made, strict=True):
        copy.write_text(text, "utf-8")
    return made


def test_these_tests_hold_in_a_checkout_that_is_pinned() -> None:
    every = [pinned(text, dict.fromkeys(unpinned(text), DIGEST)) for text in TEXTS]

    assert not any(map(unpinned, every))
    assert all(map(unpinned, TEXTS))
    assert [without_digests(text) for text in every] == TEXTS


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
    for text, copy in zip(TEXTS, copies, strict=True):
        assert unpinned(copy.read_text("utf-8")) == set()
        assert copy.read_text("utf-8").replace(f"@{DIGEST}", "") == text
    assert pin(copies, ask) == {}


def test_a_registry_that_does_not_answer_leaves_the_files_as_they_are(
    copies: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    docker = tmp_path / "docker"
    docker.write_text(f'#!/bin/sh\ncase "$*" in *grafana*) echo "no such host" >&2; exit 1;; *) echo {DIGEST};; esac\n')
    docker.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    with pytest.raises(SystemExit, match=r"^2$"):
        pin(copies)

    assert re.search(r"^grafana.*no such host", capsys.readouterr().err)
    assert digest_of("python:3.12") == DIGEST
    assert [one.read_text("utf-8") for one in copies] == TEXTS


@pytest.mark.parametrize(
    ("program", "told"),
    [(None, "`docker` cannot be run: No such file"), ("#!/bin/sh\nexec sleep 60\n", "no answer within 0.2 s")],
    ids=["no docker", "silence"],
)
def test_who_has_no_docker_or_no_answer_is_told_so_in_a_line(
    program: str | None,
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if program is not None:
        (tmp_path / "docker").write_text(program)
        (tmp_path / "docker").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path) if program is None else f"{tmp_path}{os.pathsep}/usr/bin:/bin")
    monkeypatch.setattr(pin_images, "ANSWER_SECONDS", 0.2)

    with pytest.raises(SystemExit, match=r"^2$"):
        digest_of("python:3.12")

    shown = capsys.readouterr().err
    assert told in shown
    assert len(shown.splitlines()) == 1
