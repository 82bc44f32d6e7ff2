"""What a new revision adds, keeps and removes."""

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.documents.document import ChunkDraft, chunk_id_for, content_hash
from agentic_rag.documents.revision_diff import VisibleChunk, diff_revision

DOCUMENT = UUID(int=1)


def drafts(words: list[str]) -> list[ChunkDraft]:
    made: list[ChunkDraft] = []
    for index, word in enumerate(words):
        digest = content_hash(word)
        occurrence = words[:index].count(word)
        made.append(
            ChunkDraft(
                chunk_id_for(DOCUMENT, digest, occurrence), index, word, index, index + 1, None, 1, 1, (), digest
            )
        )
    return made


def visible(words: list[str]) -> list[VisibleChunk]:
    return [
        VisibleChunk(
            100 + one.index, one.chunk_id, one.index, one.start, one.end, one.page, one.line_start, one.line_end, ()
        )
        for one in drafts(words)
    ]


texts = st.lists(st.sampled_from("abcdef"), max_size=12)


@given(texts, texts)
def test_added_and_kept_are_the_new_revision_and_kept_and_removed_the_old(old: list[str], new: list[str]) -> None:
    diff = diff_revision(visible(old), drafts(new))

    assert sorted([d.index for d in diff.added] + [k.draft.index for k in diff.kept]) == list(range(len(new)))
    assert sorted([k.ordinal for k in diff.kept] + list(diff.removed)) == [100 + n for n in range(len(old))]


@given(texts)
def test_the_same_revision_changes_nothing(words: list[str]) -> None:
    diff = diff_revision(visible(words), drafts(words))

    assert (diff.added, diff.removed) == ((), ())
    assert not any(kept.moved for kept in diff.kept)


def test_a_chunk_that_slides_down_is_kept_and_moved() -> None:
    diff = diff_revision(visible(["a", "b"]), drafts(["new", "a", "b"]))

    assert [draft.text for draft in diff.added] == ["new"]
    assert [(kept.ordinal, kept.moved) for kept in diff.kept] == [(100, True), (101, True)]


@pytest.mark.parametrize(
    "place",
    [
        {"index": 1},
        {"start": 1},
        {"end": 9},
        {"page": 2},
        {"line_start": 0},
        {"line_end": 2},
        {"heading_path": ("New",)},
    ],
    ids=lambda place: next(iter(place)),
)
def test_a_chunk_whose_place_changed_is_moved(place: dict[str, Any]) -> None:
    (draft,) = drafts(["a"])

    diff = diff_revision(visible(["a"]), [replace(draft, **place)])

    assert diff.kept[0].moved
