"""After a delete, every store equals that of a corpus which never held the document."""

from __future__ import annotations

import os
import random
import shutil
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.integration.jobs.data_plane import DataPlane
from tests.integration.jobs.in_order import ingest_in_order
from tests.integration.jobs.pictures import picture

pytestmark = [pytest.mark.integration, pytest.mark.network]

NAMES = (
    "Old Mill", "OLD MILL", "Harbour Bridge", "harbour_bridge", "TG-04", "TG 04", "Oona Pellgrave", "Lake Tarn",
    "PumpController", "Grid Station", "max_retries", "North Valley", "NORTH VALLEY", "Kessel & Sons",
)  # fmt: skip
VERBS = ("feeds", "replaces", "inspects", "stands beside", "was painted by", "reports to")


def text_of(dice: random.Random) -> str:
    """A few sections of sentences about names that other texts use too, in spellings of their own."""
    sections = []
    for number in range(dice.randint(1, 4)):
        sentences = [
            f"{dice.choice(NAMES)} {dice.choice(VERBS)} {dice.choice(NAMES)} since {dice.randint(1900, 2020)}."
            for _ in range(dice.randint(2, 14))
        ]
        sections.append(f"# {dice.choice(NAMES)} part {number}\n\n" + " ".join(sentences))
    return "\n\n".join(sections)


def write(folder: Path, texts: Mapping[str, str]) -> None:
    for name, text in texts.items():
        (folder / name).write_text(text)
        stamp = time.time_ns() + random.randrange(10**9)
        os.utime(folder / name, ns=(stamp, stamp))


async def never_held(plane: DataPlane, folder: Path, states: list[Mapping[str, str]], gone: str) -> object:
    """The picture of a workspace of the same id on a fresh database that saw the same files, without one."""
    shutil.rmtree(folder)
    folder.mkdir()
    for texts in states:
        write(folder, {name: text for name, text in texts.items() if name != gone})
        await ingest_in_order(plane, folder)
    return await picture(plane)


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(2, 6))])
async def test_all_stores_equal_those_of_a_corpus_that_never_held_the_document(
    plane: DataPlane, twin: DataPlane, folder: Path, seed: int
) -> None:
    dice = random.Random(seed)
    names = [f"{letter}.md" for letter in "abcdefg"[: dice.randint(3, 7)]]
    gone = dice.choice(names)
    first = {name: text_of(dice) for name in names}
    # Some change afterwards, so that older versions and closed chunks are there too.
    second = {name: text_of(dice) if dice.random() < 0.4 or name == gone else text for name, text in first.items()}
    states = [first, second]
    for texts in states:
        write(folder, texts)
        await ingest_in_order(plane, folder)

    deletion = await plane.delete.run(plane.workspace, await plane.id_of(gone))

    assert deletion.certificate is not None
    assert deletion.certificate.is_complete
    left = await picture(plane)
    expected = await never_held(twin, folder, states, gone)
    assert left == expected
    assert left.graph.entities
    assert left.postings


async def test_an_entity_gets_the_kind_that_its_next_source_gave_it(
    plane: DataPlane, twin: DataPlane, folder: Path
) -> None:
    text = "# Old Mill\n\nThe mill grinds rye."
    states = [
        {"a.md": text, "b.md": text.replace("rye", "oats")},
        {"a.md": text, "b.md": "# Mills of the valley\n\n## Old Mill\n\nThe mill grinds oats."},
    ]
    for texts in states:
        write(folder, texts)
        await ingest_in_order(plane, folder)

    await plane.delete.run(plane.workspace, await plane.id_of("a.md"))

    left = await picture(plane)
    assert left == await never_held(twin, folder, states, "a.md")
    assert ("old mill", "title") in {(key, kind) for _, key, _, kind, _ in left.graph.entities}


async def test_deleting_everything_leaves_nothing(plane: DataPlane, folder: Path) -> None:
    dice = random.Random(7)
    write(folder, {name: text_of(dice) for name in ("a.md", "b.md")})
    await ingest_in_order(plane, folder)

    for name in ("a.md", "b.md"):
        await plane.delete.run(plane.workspace, await plane.id_of(name))

    left = await picture(plane)
    assert not any(
        (left.documents, left.revisions, left.chunks, left.vectors, left.postings, left.lengths, left.closed)
    )
    assert not left.graph.entities
    assert not left.graph.mentions
