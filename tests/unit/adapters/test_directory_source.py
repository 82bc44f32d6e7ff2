"""A directory as a source: everything in it is either an item or reported."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentic_rag.adapters.sources.directory import DirectorySource
from agentic_rag.ingestion.ports import SourceItem
from agentic_rag.ingestion.sources.source import UnreadableItem
from agentic_rag.kernel.errors import InvalidInput, NotFound


def write(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(path)


async def listed(root: Path) -> list[str]:
    return [item.path async for item in DirectorySource(root).list() if isinstance(item, SourceItem)]


async def reported(root: Path) -> dict[str, str]:
    return {item.path: item.code async for item in DirectorySource(root).list() if isinstance(item, UnreadableItem)}


async def test_items_come_in_path_order_whatever_the_folders(tmp_path: Path) -> None:
    paths = ["a-b.md", "a.md", "a/b.md", "a/c/d.md", "a0.md", "b.md", "Ä.md"]
    write(tmp_path, *paths)

    assert await listed(tmp_path) == sorted(paths)


async def test_hidden_entries_are_reported_once_and_left_out(tmp_path: Path) -> None:
    added = ["Thumbs.db", "desktop.ini", "~$report.docx", ".env"]
    write(tmp_path, ".git/config", ".git/x/y", "a.md", *added)

    assert await listed(tmp_path) == ["a.md"]
    assert await reported(tmp_path) == dict.fromkeys([*added, ".git"], "SOURCE_HIDDEN")


async def test_links_are_followed_inside_the_root_only(tmp_path: Path) -> None:
    root = tmp_path / "root"
    write(root, "a.md", "deep/b.md")
    write(tmp_path, "secret.md")
    (root / "inside.md").symlink_to(root / "a.md")
    (root / "outside.md").symlink_to(tmp_path / "secret.md")
    (root / "broken.md").symlink_to(root / "nowhere.md")
    (root / "deep/loop").symlink_to(root)

    assert await listed(root) == ["a.md", "deep/b.md", "inside.md"]
    assert await reported(root) == {
        "broken.md": "SOURCE_UNREADABLE",
        "deep/loop": "SOURCE_NOT_A_FILE",
        "outside.md": "SOURCE_LINK_OUTSIDE",
    }


async def test_pipes_and_unusable_names_and_giants_are_reported(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / os.fsdecode(b"bad\xff.md")).write_text("x")
    write(tmp_path, "big.md")

    found = {item.path: item.code async for item in DirectorySource(tmp_path, max_bytes=3).list()}  # type: ignore[union-attr]

    assert found == {
        "pipe": "SOURCE_NOT_A_FILE",
        "bad\\udcff.md": "SOURCE_NAME_UNUSABLE",
        "big.md": "SOURCE_TOO_LARGE",
    }


async def test_only_known_paths_that_are_surely_gone_count_as_deleted(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    os.mkfifo(tmp_path / "b.md")

    changes = await DirectorySource(tmp_path).changes(frozenset({"a.md", "b.md", "c.md", "d/e.md"}), None)

    assert [item.path for item in changes.upserted] == ["a.md"]
    assert changes.deleted == ("c.md", "d/e.md")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
async def test_what_lies_in_a_folder_that_cannot_be_listed_is_not_deleted(tmp_path: Path) -> None:
    write(tmp_path, "shut/a.md")
    (tmp_path / "shut").chmod(0)

    changes = await DirectorySource(tmp_path).changes(frozenset({"shut/a.md"}), None)

    (tmp_path / "shut").chmod(0o700)
    assert changes.deleted == ()
    assert [item.code for item in changes.unreadable] == ["SOURCE_UNREADABLE"]


async def test_a_missing_root_is_an_error_and_not_a_mass_deletion(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="does not exist"):
        await DirectorySource(tmp_path / "nowhere").changes(frozenset({"a.md"}), None)


NO_ANSWER = "n" * 300
"""A name to which the system answers with an error that is none of "not there": so does a mount whose server died."""


async def test_a_root_that_does_not_answer_is_an_error_and_not_a_mass_deletion(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"cannot be listed: File name too long.*mount") as refused:
        await DirectorySource(tmp_path / NO_ANSWER).changes(frozenset({"a.md"}), None)

    assert refused.value.code == "SOURCE_UNREADABLE"


async def test_an_entry_that_does_not_answer_is_reported_and_the_others_are_listed(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    write(tmp_path, "z/b.md")
    (tmp_path / "dead").symlink_to(NO_ANSWER)

    changes = await DirectorySource(tmp_path).changes(frozenset({"dead/c.md", "gone.md"}), None)

    assert [item.path for item in changes.upserted] == ["a.md", "z/b.md"]
    assert [(one.path, one.code) for one in changes.unreadable] == [("dead", "SOURCE_UNREADABLE")]
    assert changes.deleted == ("gone.md",)


async def test_the_fingerprint_follows_size_and_time(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    source = DirectorySource(tmp_path)
    first = [item async for item in source.list()]
    os.utime(tmp_path / "a.md", ns=(1, 1))

    assert [item async for item in source.list()] != first


async def test_an_item_that_became_a_link_to_elsewhere_is_not_read(tmp_path: Path) -> None:
    root = tmp_path / "root"
    write(root, "a.md")
    write(tmp_path, "secret.md")
    source = DirectorySource(root)
    (item,) = [item async for item in source.list() if isinstance(item, SourceItem)]
    assert (await source.read(item)).data == b"a.md"
    (root / "a.md").unlink()
    (root / "a.md").symlink_to(tmp_path / "secret.md")

    with pytest.raises(NotFound):
        await source.read(item)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
@given(names=st.sets(st.text("ab-.0", min_size=1, max_size=4).filter(lambda n: not n.startswith(".")), max_size=8))
async def test_the_order_is_that_of_the_paths_for_any_names(tmp_path_factory: pytest.TempPathFactory, names) -> None:  # type: ignore[no-untyped-def]
    root = tmp_path_factory.mktemp("names")
    for number, name in enumerate(sorted(names)):
        write(root, name if number % 2 else f"{name}/x")

    found = await listed(root)

    assert found == sorted(found)
    assert len(found) == len(names)


async def test_a_file_in_the_place_of_a_directory_is_told_with_the_command_for_files(tmp_path: Path) -> None:
    write(tmp_path, "a.md")

    with pytest.raises(InvalidInput, match=r"is a file: `rag upload` takes files") as refused:
        await listed(tmp_path / "a.md")

    assert refused.value.code == "SOURCE_NOT_FOUND"
