"""How a trail is told: which one leads to a passage, and over what."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID, uuid5

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.retrieval.test_multi_hop import CORPUS, QUESTION, WORKSPACE, Corpus

from agentic_rag.answering.answer import Citation, TextSpan
from agentic_rag.answering.verification.citations import keep_followed_paths
from agentic_rag.documents.document import Chunk
from agentic_rag.retrieval.candidates import Hop, HopKind
from agentic_rag.retrieval.graph.entities import entity_id_for, entity_key
from agentic_rag.retrieval.graph.multi_hop import extend_paths, likeliest_paths, link_features, start_paths
from agentic_rag.retrieval.graph.paths import GraphPaths, PathStep, describe_steps, links_between

PLAYER, LEAGUE, UNION, TOWN = range(4)
LINK = 4


def trails_of(corpus: Corpus, question: str = QUESTION) -> GraphPaths:
    pool, asked = corpus.pool(question), corpus.asked(question)
    first = extend_paths(pool, corpus.around, asked, start_paths(pool, range(len(corpus.titles))))
    longer = likeliest_paths(first)
    return GraphPaths(pool, corpus.around, asked, (first, extend_paths(pool, corpus.around, asked, longer)))


def chunk(ordinal: int, title: str) -> Chunk:
    document_id = uuid5(UUID(int=0), title)
    return Chunk(
        ordinal, uuid5(document_id, "chunk"), document_id, document_id, 0, "Words.", 0, 6, None, 1, 1, (), title, title,
        None, "text/plain",
    )  # fmt: skip


CHUNKS = {place: chunk(place, title) for place, title in enumerate(CORPUS)}


def entity(name: str) -> UUID:
    return entity_id_for(WORKSPACE, entity_key(name))


def test_the_trail_to_a_passage_begins_with_what_resembles_the_question_and_names_its_links() -> None:
    trails = trails_of(Corpus(CORPUS))

    path = describe_steps(trails.steps_to(LEAGUE), CHUNKS, {})

    assert [(hop.kind, hop.via, hop.from_title, hop.to_title) for hop in path] == [
        (HopKind.NAMES, "Norrland Hockey League", "Anton Berg", "Norrland Hockey League")
    ]
    assert path[0].from_chunk_id == CHUNKS[PLAYER].chunk_id
    assert path[0].to_document_id == CHUNKS[LEAGUE].document_id


def test_what_leads_onward_is_the_likeliest_trail_of_two_passages() -> None:
    linked, alone = trails_of(Corpus(CORPUS)), trails_of(Corpus({"One": "Rain fell.", "Two": "A mine closed."}))
    assert linked.path_probability == round(float(linked.extensions[0].probability.max()), 6)
    assert linked.path_probability > alone.path_probability
    assert replace(linked, extensions=()).path_probability == 0.0


def test_a_trail_of_three_passages_is_told_hop_by_hop() -> None:
    trails = trails_of(Corpus(CORPUS))

    steps = trails.steps_to(TOWN)

    assert [(step.origin, step.target) for step in steps] == [(PLAYER, LEAGUE), (LEAGUE, TOWN)]


def test_what_resembles_the_question_most_was_found_by_itself() -> None:
    assert trails_of(Corpus(CORPUS)).steps_to(PLAYER) == ()


def test_a_passage_outside_the_pool_has_no_trail() -> None:
    assert trails_of(Corpus(CORPUS)).steps_to(99) == ()


@given(st.sets(st.sampled_from(list(CORPUS)), min_size=2).map(sorted))
def test_a_trail_begins_with_what_resembles_the_question_no_less(titles: list[str]) -> None:
    trails = trails_of(Corpus({title: CORPUS[title] for title in titles}))
    alone = trails.pool.probability

    for place in range(len(titles)):
        steps = trails.steps_to(place)
        assert not steps or alone[steps[0].origin] >= alone[place]


@pytest.mark.parametrize("origin", range(4))
def test_the_strongest_link_is_the_one_that_ranking_counts(origin: int) -> None:
    corpus = Corpus(CORPUS)
    pool, asked = corpus.pool(QUESTION), corpus.asked(QUESTION)
    [features] = link_features(pool, corpus.around, asked, [origin])

    for target in set(range(4)) - {origin}:
        strengths = [strength for strength, _, _ in links_between(pool, corpus.around, asked, origin, target)]
        assert max(strengths, default=0.0) == pytest.approx(features[target, LINK])


def test_a_shared_entity_is_told_by_its_name() -> None:
    corpus = Corpus({"One": "Near Kiruna it snows.", "Two": "Kiruna has a mine."})

    links = links_between(corpus.pool("snow"), corpus.around, corpus.asked("snow"), 0, 1)
    path = describe_steps([PathStep(0, 1, HopKind.SHARES, entity("Kiruna"))], CHUNKS, {entity("Kiruna"): "Kiruna"})

    assert [(kind, one) for _, one, kind in links] == [(HopKind.SHARES, entity("Kiruna"))]
    assert [hop.via for hop in path] == ["Kiruna"]


def test_a_hop_without_a_link_says_nothing_but_that_it_covers_the_rest() -> None:
    corpus = Corpus({"Snow": "Snow falls near the mine.", "Iron": "Iron is dug in the hill."})
    trails = trails_of(corpus, "snow and iron")

    assert trails._step(0, 1) == PathStep(0, 1, HopKind.COVERS, None)
    assert [hop.via for hop in describe_steps([PathStep(0, 1, HopKind.COVERS, None)], CHUNKS, {})] == [""]


def test_a_trail_over_a_passage_that_may_not_be_read_is_not_told() -> None:
    steps = (PathStep(PLAYER, LEAGUE, HopKind.NAMES, None), PathStep(LEAGUE, TOWN, HopKind.NAMES, None))

    assert describe_steps(steps, {place: CHUNKS[place] for place in (PLAYER, TOWN)}, {}) == ()


def citation(place: int, *path: Hop) -> Citation:
    held = CHUNKS[place]
    return Citation(
        1, held.document_id, held.revision_id, held.chunk_id, place, held.document_title, held.source_path, None,
        "Words.", TextSpan(0, 6), (), None, 1, 1, (), 0.5, (), "corpus", True, path,
    )  # fmt: skip


def test_an_answer_shows_only_the_hops_from_what_it_cites() -> None:
    path = describe_steps(trails_of(Corpus(CORPUS)).steps_to(LEAGUE), CHUNKS, {})
    first, second, other = citation(PLAYER), citation(LEAGUE, *path), citation(UNION)

    assert keep_followed_paths([first, second]) == (first, second)
    assert keep_followed_paths([other, second]) == (other, replace(second, path=()))
