"""The graph arm's scoring."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.domain.entities import entity_id_for, question_entities
from agentic_rag.domain.graph_walk import (
    ATTENUATION,
    PASSAGE_CAP,
    Frontier,
    plan_frontier,
    score_graph,
    seed_weights,
    specificity,
)
from agentic_rag.domain.retrieval import EntityMentions, Mention, Neighbour

WORKSPACE = UUID(int=9)
ACME, PUMP, PLANT, RARE = (UUID(int=number) for number in (1, 2, 3, 4))


def mentions(entity_id: UUID, *ordinals: int, passages: int | None = None) -> EntityMentions:
    return EntityMentions(
        entity_id, len(ordinals) if passages is None else passages, ordinals, tuple(1 for _ in ordinals)
    )


def seeded() -> Frontier:
    return plan_frontier({ACME: 0.8, PUMP: 0.4}, {}, [])


def test_specificity_is_one_for_a_single_passage_and_zero_beyond_the_cap() -> None:
    assert specificity(1, 1000) == 1.0
    assert specificity(PASSAGE_CAP, 1000) > 0
    assert specificity(PASSAGE_CAP + 1, 1000) == 0.0
    assert specificity(0, 1000) == 0.0


@given(st.integers(1, PASSAGE_CAP - 1), st.integers(40, 10**6))
def test_rarer_entities_weigh_more(passages: int, total: int) -> None:
    assert 0 <= specificity(passages + 1, total) < specificity(passages, total) <= 1


def test_a_name_inside_a_longer_known_name_is_left_out() -> None:
    question = question_entities(WORKSPACE, "what does Acme Corp build")
    known = [mentions(entity_id_for(WORKSPACE, key), 1) for key in ("acme corp", "acme", "build")]

    weights = seed_weights(question, known, 100)

    assert weights.keys() == {entity_id_for(WORKSPACE, "acme corp"), entity_id_for(WORKSPACE, "build")}
    assert weights[entity_id_for(WORKSPACE, "build")] < weights[entity_id_for(WORKSPACE, "acme corp")]


def test_passages_with_more_of_the_question_come_first() -> None:
    hits = score_graph([mentions(ACME, 5, 7), mentions(PUMP, 3, 7)], [], seeded(), 1000)

    assert [hit.ordinal for hit in hits] == [7, 5, 3]
    assert hits[0].score == 0.8
    assert all(0 <= hit.score <= 1 for hit in hits)


def test_a_common_entity_links_nothing() -> None:
    assert score_graph([mentions(ACME, 5, passages=PASSAGE_CAP + 1)], [], seeded(), 1000) == []


def test_a_neighbour_counts_less_than_its_entity() -> None:
    hits = score_graph([mentions(ACME, 5), mentions(PLANT, 6)], [Neighbour(ACME, PLANT, 3)], seeded(), 1000)

    by_ordinal = {hit.ordinal: hit.score for hit in hits}
    assert by_ordinal[6] == pytest.approx(ATTENUATION * 0.8 * 3 / 4)
    assert by_ordinal[6] < by_ordinal[5]


def test_entities_of_first_passages_lead_on_but_not_back() -> None:
    frontier = plan_frontier({ACME: 0.8}, {5: 0.9}, [Mention(RARE, 5, 1), Mention(ACME, 5, 1)])

    hits = score_graph([mentions(ACME, 5), mentions(RARE, 5, 8)], [], frontier, 1000)

    by_ordinal = {hit.ordinal: hit.score for hit in hits}
    assert by_ordinal[8] == pytest.approx(ATTENUATION * 0.9 * specificity(2, 1000), abs=1e-6)
    assert by_ordinal[5] == 0.8


def test_the_frontier_is_bounded_and_keeps_the_strongest() -> None:
    held = [Mention(UUID(int=100 + number), number, 1) for number in range(1, 9)]

    frontier = plan_frontier({}, {number: number / 10 for number in range(1, 9)}, held, cap=3)

    assert frontier.entity_ids == tuple(UUID(int=100 + number) for number in (6, 7, 8))


def test_passages_without_a_score_lead_nowhere() -> None:
    assert plan_frontier({}, {1: 0.0}, [Mention(RARE, 1, 1), Mention(RARE, 2, 1)]).entity_ids == ()


entities = st.sampled_from([ACME, PUMP, PLANT, RARE])
graph = st.dictionaries(entities, st.frozensets(st.integers(0, 9), min_size=1, max_size=6), max_size=4)
related = st.lists(st.builds(Neighbour, entities, entities, st.integers(1, 9)), max_size=5)


@given(graph, related)
def test_the_order_of_what_was_fetched_does_not_matter(
    held: dict[UUID, frozenset[int]], neighbours: list[Neighbour]
) -> None:
    fetched = [mentions(entity_id, *sorted(ordinals)) for entity_id, ordinals in held.items()]

    assert score_graph(fetched, neighbours, seeded(), 50) == score_graph(fetched[::-1], neighbours[::-1], seeded(), 50)


@given(graph, related)
def test_scores_are_absolute_and_ranked(held: dict[UUID, frozenset[int]], neighbours: list[Neighbour]) -> None:
    fetched = [mentions(entity_id, *sorted(ordinals)) for entity_id, ordinals in held.items()]

    hits = score_graph(fetched, neighbours, seeded(), 50)

    assert all(0 < hit.score <= 1 for hit in hits)
    assert hits == sorted(hits, key=lambda hit: (-hit.score, hit.ordinal))
    assert score_graph(fetched, neighbours, seeded(), 50, limit=2) == hits[:2]
