"""What a graph must be told: slices, sums and watermarks, for any documents."""

from __future__ import annotations

from collections import Counter
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.operations.graph.projection import (
    CLEARING_VERSION,
    ChangedDocument,
    DocumentBatch,
    GraphChunk,
    GraphCursor,
    GraphMention,
    GraphPosition,
    GraphSource,
    GraphWatermark,
    build_change,
    graph_since,
    is_usable,
    split_change,
    visible_version,
)

DOCUMENTS = [UUID(int=number) for number in range(1, 4)]
ordinals = st.frozensets(st.integers(0, 30), max_size=12)


def document(place: int, held: frozenset[int]) -> ChangedDocument:
    """A document with these ordinals, of a hundred that are its own; none: erased."""
    own = tuple(sorted(100 * place + ordinal for ordinal in held))
    source = GraphSource(DOCUMENTS[place], f"title {place}", UUID(int=9)) if own else None
    return ChangedDocument(1, DOCUMENTS[place], source, own, tuple(UUID(int=1000 + ordinal) for ordinal in own))


def chunk(ordinal: int) -> GraphChunk:
    """What an ordinal stands for."""
    mentions = tuple(
        GraphMention(UUID(int=number), 1 + ordinal % 2, (UUID(int=number + 1),), (ordinal % 3 + 1,))
        for number in range(ordinal % 4)
    )
    return GraphChunk(ordinal, UUID(int=1000 + ordinal), DOCUMENTS[ordinal // 100], mentions)


def sums(chunks: frozenset[int]) -> tuple[Counter[tuple[UUID, UUID]], Counter[tuple[UUID, UUID]]]:
    """The counts and weights that some chunks come to."""
    counts: Counter[tuple[UUID, UUID]] = Counter()
    weights: Counter[tuple[UUID, UUID]] = Counter()
    for one in map(chunk, chunks):
        for mention in one.mentions:
            counts[one.document_id, mention.entity_id] += mention.count
            for other, weight in zip(mention.related, mention.weights, strict=True):
                weights[mention.entity_id, other] += weight
    return counts, weights


@given(st.lists(ordinals, min_size=3, max_size=3), st.lists(ordinals, min_size=3, max_size=3), st.integers(1, 7))
def test_the_changes_of_all_parts_lead_from_any_state_to_any_other(
    before: list[frozenset[int]], after: list[frozenset[int]], size: int
) -> None:
    documents = [document(place, held) for place, held in enumerate(after)]
    held = {
        DOCUMENTS[place]: frozenset(100 * place + ordinal for ordinal in chunks) for place, chunks in enumerate(before)
    }
    graph = frozenset().union(*held.values())
    counts, weights = sums(graph)

    for part in split_change(documents, held, size):
        change = build_change(
            documents, part, list(map(chunk, part.removed)), [chunk(ordinal) for _, ordinal, _ in part.added], ()
        )
        assert len(change.removed) + len(change.added) <= size
        graph = (graph - set(change.removed)) | {one.ordinal for one in change.added}
        for source, entity, by in change.counts:
            counts[source, entity] += by
        for one, other, by in change.weights:
            weights[one, other] += by

    assert graph == frozenset(ordinal for one in documents for ordinal in one.ordinals)
    assert (+counts, +weights) == sums(graph)
    assert min([0, *counts.values(), *weights.values()]) == 0


def test_sources_come_with_the_first_part_and_go_with_the_last() -> None:
    documents = [document(0, frozenset({1, 2, 3})), document(1, frozenset())]
    held = {DOCUMENTS[1]: frozenset({101, 102})}

    changes = [build_change(documents, part, [], [], ()) for part in split_change(documents, held, 2)]

    assert [len(change.sources) for change in changes] == [1, 0, 0]
    assert [change.erased_sources for change in changes] == [(), (), (DOCUMENTS[1],)]


def test_a_document_without_a_changed_chunk_is_still_told() -> None:
    [part] = split_change([document(0, frozenset({1}))], {DOCUMENTS[0]: frozenset({1})})

    assert (part.removed, part.added, part.is_first, part.is_last) == ((), (), True, True)


@pytest.mark.parametrize(
    ("corpus", "noted", "graph", "since"),
    [
        (9, 7, 7, 7),
        (9, 7, 8, 7),
        (9, 7, 5, 0),
        (9, 7, 12, 0),
        (9, 0, 0, 0),
        (9, 7, CLEARING_VERSION, 0),
    ],
    ids=["followed", "note lost", "data lost", "another history", "new", "being emptied"],
)
def test_a_graph_is_followed_from_where_both_agree_or_from_the_beginning(
    corpus: int, noted: int, graph: int, since: int
) -> None:
    assert graph_since(GraphPosition(corpus, noted), GraphWatermark(graph, graph, 1)) == since


@pytest.mark.parametrize(
    ("watermark", "version", "usable"),
    [
        (None, 3, False),
        (0, 3, False),
        (CLEARING_VERSION, 0, False),
        (0, 0, True),
        (3, 3, True),
        (3, 5, True),
        (3, 6, False),
        (9, 3, True),
    ],
)
def test_a_graph_answers_when_it_was_filled_and_is_not_too_far_behind(
    watermark: int | None, version: int, usable: bool
) -> None:
    held = None if watermark is None else GraphWatermark(watermark, watermark, 1)

    assert is_usable(held, version, 2) is usable


def test_a_graph_that_is_being_written_never_passes_for_the_corpus_version() -> None:
    assert visible_version(GraphWatermark(5, 5, 1), 5) == 5
    assert visible_version(GraphWatermark(5, 6, 1), 5) == 6
    assert visible_version(GraphWatermark(4, 5, 1), 5) == 4


def test_a_batch_is_complete_up_to_the_version_before_its_last() -> None:
    documents = (ChangedDocument(3, DOCUMENTS[0], None), ChangedDocument(4, DOCUMENTS[1], None))

    assert DocumentBatch(documents, 9, is_last=False).cursor == GraphCursor(4, DOCUMENTS[1])
    assert DocumentBatch(documents, 9, is_last=False).complete == 3
    assert DocumentBatch(documents, 9, is_last=True).complete == 9
