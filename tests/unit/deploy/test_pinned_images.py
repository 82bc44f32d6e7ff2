"""An operator pins every image by digest with one command."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from scripts import pin_images
from scripts.pin_images import FILES, NAMED, OURS, digest_of, pin, unpinned, without_digests

DIGEST = "sha256:" + "0f" * 32


TEXTS = [without_digests(path.read_text("utf-8")) for path in FILES]


@pytest.fixture
def copies(tmp_path: Path) -> list[Path]:
    made = [tmp_path / path.name for path in FILES]
    for text, copy in zip(TEXTS, made, strict=True):
        copy.write_text(text, "utf-8")
    return made


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_image_that_is_pulled_is_pinned_by_digest(path: Path) -> None:
    assert unpinned(path.read_text("utf-8")) == set()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_an_image_without_its_digest_or_with_half_of_it_is_found(path: Path) -> None:
    text = path.read_text("utf-8")
    for one in NAMED.finditer(text):
        image, _, digest = one["image"].partition("@")
        if image != OURS:
            assert unpinned(text.replace(one["image"], image)) == {image}
            assert unpinned(text.replace(one["image"], f"{image}@{digest[:40]}")) == {f"{image}@{digest[:40]}"}


def test_a_tag_has_one_digest_and_names_the_version_in_full() -> None:
    named = {one["image"] for path in FILES for one in NAMED.finditer(path.read_text("utf-8"))} - {OURS}

    assert len({image.partition("@")[0] for image in named}) == len(named)
    for image in named:
        tag = image.partition("@")[0].rpartition(":")[2]
        assert re.match(r"v?\d+\.\d+\.\d+|RELEASE\.\d{4}-\d\d-\d\dT", tag), image


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


def test_a_refresh_asks_for_all_and_tells_what_changed(copies: list[Path]) -> None:
    pin(copies, lambda _: DIGEST)
    other = "sha256:" + "1e" * 32
    told = pin(copies, lambda image: other if image.startswith("grafana") else DIGEST, refresh=True)

    assert list(told.values()) == [other]
    assert [without_digests(copy.read_text("utf-8")) for copy in copies] == TEXTS
    assert sum(copy.read_text("utf-8").count(f"@{other}") for copy in copies) == 1
    assert not any(unpinned(copy.read_text("utf-8")) for copy in copies)


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
