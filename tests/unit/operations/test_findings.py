"""What verification says of a stored passage: each fault has its own name, and a sound one has none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from agentic_rag.documents.document import content_hash
from agentic_rag.operations.findings import StoredChunk, check_chunk

TEXT = "The pump starts."


def stored_vector(*numbers: float) -> bytes:
    return np.array(numbers, "<f2").tobytes()


SOUND = StoredChunk(
    7, 0, TEXT, 0, len(TEXT), content_hash(TEXT), (), None, TEXT, stored_vector(0.6, 0.8), frozenset(), frozenset()
)


def kinds(chunk: StoredChunk) -> list[str]:
    return [found.kind for found in check_chunk("a.md", chunk, 2)]


def test_a_sound_passage_has_no_finding() -> None:
    assert kinds(SOUND) == []


@pytest.mark.parametrize(
    ("vector", "kind"),
    [
        (None, "VECTOR_MISSING"),
        (stored_vector(1.0), "VECTOR_DIMENSIONS"),
        (stored_vector(0.0, 0.0), "VECTOR_BROKEN"),
        (stored_vector(float("nan"), 0.0), "VECTOR_BROKEN"),
        (stored_vector(3.0, 4.0), "VECTOR_NOT_UNIT"),
    ],
    ids=["none", "short", "zero", "no number", "long"],
)
def test_a_vector_that_cannot_be_searched_is_named(vector: bytes | None, kind: str) -> None:
    assert kinds(replace(SOUND, vector=vector)) == [kind]


def test_text_that_is_not_that_of_its_revision_is_named() -> None:
    assert kinds(replace(SOUND, revision_text="The pump stops!!")) == ["CHUNK_TEXT_DIFFERS"]
    assert kinds(replace(SOUND, content_hash=b"\0" * 32)) == ["CHUNK_HASH_WRONG"]
