"""Trails from the first passages to what covers the rest of a question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.retrieval.slow_graph import SlowNeighbourhood, slow_extension

from agentic_rag.language.tokenizer import query_terms, term_counts
from agentic_rag.retrieval.candidates import EntityPassages, MentionCount
from agentic_rag.retrieval.graph.entities import extract_entities, question_entities, title_entities
from agentic_rag.retrieval.graph.multi_hop import (
    CandidatePool,
    GraphPath,
    PathExtension,
    StepWeights,
    extend_paths,
    likeliest_paths,
    link_features,
    score_boosts,
    start_paths,
)
from agentic_rag.retrieval.graph.neighbourhood import PASSAGE_CAP, GraphNeighbourhood, specificity
from agentic_rag.retrieval.graph.subgraph import Subgraph
from agentic_rag.retrieval.lexical.bm25 import VisiblePostings
from agentic_rag.retrieval.lexical.postings import SegmentRow, build_segment

WORKSPACE = UUID(int=9)
QUESTION = "Who founded the league in which Anton Berg played?"
CORPUS = {
    "Anton Berg": "Anton Berg was a striker who played for the Norrland Hockey League in the nineties.",
    "Norrland Hockey League": "The Norrland Hockey League was founded by Elsa Lind, a teacher from Umea.",
    "Baltic Chess Union": "The Baltic Chess Union was founded by Otto Falk after a long dispute about rules.",
    "Umea": "Umea is a town on the river, known for birches and for its university.",
}


class Corpus:
    """A pool over short texts, as the graph arm makes it."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.titles = list(texts)
        rows = [SegmentRow(place, 1, 1, term_counts(text)) for place, text in enumerate(texts.values())]
        self.postings = VisiblePostings.of([build_segment(rows)], np.zeros(0, np.int32), 1, [1])
        mentions = [
            MentionCount(one.entity_id, place, one.count)
            for place, (title, text) in enumerate(texts.items())
            for one in extract_entities(WORKSPACE, text, (), title).entities
        ]
        passages: dict[UUID, list[int]] = {}
        for mention in mentions:
            passages.setdefault(mention.entity_id, []).append(mention.ordinal)
        reached = [EntityPassages(one, len(held), tuple(held), (1,) * len(held)) for one, held in passages.items()]
        self.mentions, self.reached = mentions, reached
        self.around = GraphNeighbourhood.of([self.vicinity(range(len(texts)))], len(texts))

    def vicinity(self, ordinals: Sequence[int]) -> Subgraph:
        """What the graph tells of these passages."""
        held = [one for one in self.mentions if one.ordinal in ordinals]
        entities = {one.entity_id for one in held}
        return Subgraph.of(held, [one for one in self.reached if one.entity_id in entities])

    def asked(self, question: str) -> frozenset[int]:
        entities = question_entities(WORKSPACE, question)
        return frozenset(one.entity_id.int for one in entities if one.entity_id.int in self.around.rows)

    def pool(self, question: str, ordinals: Sequence[int] | None = None) -> CandidatePool:
        terms = query_terms(question)
        kept = np.array(range(len(self.titles)) if ordinals is None else ordinals, np.int64)
        titles = [title_entities(WORKSPACE.int, self.titles[ordinal]) for ordinal in kept]
        named = self.asked(question)
        return CandidatePool(
            kept,
            np.zeros(len(kept)),
            self.postings.profile(terms, kept),
            titles,
            np.arange(len(kept)),
            np.array([max((self.around.specificity(one) for one in title & named), default=0.0) for title in titles]),
            np.zeros(len(kept)),
            1.0,
        )


@pytest.fixture
def corpus() -> Corpus:
    return Corpus(CORPUS)


def test_specificity_is_one_for_a_single_passage_and_zero_beyond_the_cap() -> None:
    assert specificity(1, 1000) == 1.0
    assert specificity(PASSAGE_CAP, 1000) > 0
    assert specificity(PASSAGE_CAP + 1, 1000) == 0.0
    assert specificity(0, 1000) == 0.0


@given(st.integers(1, PASSAGE_CAP - 1), st.integers(40, 10**6))
def test_rarer_entities_weigh_more(passages: int, total: int) -> None:
    assert 0 <= specificity(passages + 1, total) < specificity(passages, total) <= 1


def test_a_passage_named_by_the_first_one_overtakes_one_that_is_just_as_similar(corpus: Corpus) -> None:
    pool = corpus.pool(QUESTION)
    league, union = (corpus.titles.index(title) for title in ("Norrland Hockey League", "Baltic Chess Union"))

    trails = start_paths(pool, range(4))[:1]
    lift = score_boosts(pool, [extend_paths(pool, corpus.around, corpus.asked(QUESTION), trails)])

    assert trails[0].ordinals == (corpus.titles.index("Anton Berg"),)
    assert lift[league] > lift[union]
    assert lift[league] > 1


def test_links_tell_which_way_they_lead(corpus: Corpus) -> None:
    pool, asked = corpus.pool(QUESTION), corpus.asked(QUESTION)
    player, league, union = (corpus.titles.index(title) for title in list(CORPUS)[:3])

    from_player, from_league = link_features(pool, corpus.around, asked, [player, league])

    forward, backward, unlinked = 0, 1, 5
    assert from_player[league, forward] > 0
    assert from_league[player, backward] > 0
    assert from_player[union, unlinked] == 1
    assert not from_player[player, :5].any()


def test_an_entity_of_the_question_links_nothing_new() -> None:
    corpus = Corpus({"One": "Near Kiruna it snows.", "Two": "Kiruna has a mine.", "Three": "Nothing is here."})

    [linked] = link_features(corpus.pool("snow"), corpus.around, corpus.asked("snow"), [0])
    [asked] = link_features(corpus.pool("snow in Kiruna"), corpus.around, corpus.asked("snow in Kiruna"), [0])

    assert linked[1, 2] > 0
    assert not asked[1, :5].any()


NAMES = ("Anton Berg", "Elsa Lind", "Otto Falk", "Kiruna", "Umea", "Norrland")
said = st.lists(st.sampled_from(NAMES), min_size=1, max_size=4).map(lambda names: " met ".join(names) + " there.")


@given(st.dictionaries(st.sampled_from([*NAMES, "Notes"]), said, min_size=2, max_size=7), said, st.data())
def test_paths_on_arrays_are_those_found_entity_by_entity(
    texts: dict[str, str], question: str, data: st.DataObject
) -> None:
    corpus = Corpus(texts)
    # Read in two steps, as the arm reads: around the first passages, then around where they lead.
    order = data.draw(st.permutations(range(len(texts))))
    halves = [corpus.vicinity(order[:2]), corpus.vicinity(order[2:])]
    around = GraphNeighbourhood.of(halves, len(texts))
    slow = SlowNeighbourhood.of(halves, len(texts))
    kept = sorted(data.draw(st.sets(st.sampled_from(range(len(texts))), min_size=1)))
    pool, asked = corpus.pool(question, kept), corpus.asked(question)
    asked_ids = frozenset(UUID(int=one) for one in asked)

    def compare(trails: Sequence[GraphPath]) -> PathExtension:
        found = extend_paths(pool, around, asked, trails)
        expected = slow_extension(pool, slow, asked_ids, trails, StepWeights())
        assert found.probability.tolist() == expected.probability.tolist()
        assert found.link_probability.tolist() == expected.link_probability.tolist()
        return found

    compare(likeliest_paths(compare(start_paths(pool, kept))))
    assert set(around.neighbours_of(kept).tolist()) == slow.neighbours_of(kept)
    assert {UUID(int=one): around.specificity(one) for one in around.entities} == {
        one: slow.specificity(one) for one in slow.entity_passages
    }


def test_a_trail_shares_out_what_it_has_and_keeps_what_ends_there(corpus: Corpus) -> None:
    pool = corpus.pool(QUESTION)
    trails = start_paths(pool, range(4))

    extension = extend_paths(pool, corpus.around, corpus.asked(QUESTION), trails)

    for trail, row in zip(trails, extension.probability, strict=True):
        assert 0 < row.sum() < trail.probability
        assert row[pool.rows[trail.ordinals[0]]] == 0


def test_longer_trails_begin_with_a_first_passage_and_repeat_none(corpus: Corpus) -> None:
    pool = corpus.pool(QUESTION)

    longer = likeliest_paths(extend_paths(pool, corpus.around, corpus.asked(QUESTION), start_paths(pool, range(4))))

    assert longer
    assert all(len(set(trail.ordinals)) == 2 for trail in longer)
    assert [trail.probability for trail in longer] == sorted((trail.probability for trail in longer), reverse=True)


def test_a_pool_of_one_passage_leads_nowhere(corpus: Corpus) -> None:
    pool = corpus.pool(QUESTION, [0])

    extension = extend_paths(pool, corpus.around, frozenset(), start_paths(pool, [0]))

    assert likeliest_paths(extension) == ()
    assert score_boosts(pool, [extension]).tolist() == [0.0]


def test_an_empty_pool_has_no_trails(corpus: Corpus) -> None:
    pool = corpus.pool(QUESTION, [])

    assert start_paths(pool, [1, 2]) == ()
    assert score_boosts(pool, [extend_paths(pool, corpus.around, frozenset(), ())]).tolist() == []


@given(st.permutations(range(4)))
def test_lift_does_not_hang_on_the_order_in_which_passages_were_found(order: list[int]) -> None:
    corpus = Corpus(CORPUS)
    pool, asked = corpus.pool(QUESTION), corpus.asked(QUESTION)

    found = extend_paths(pool, corpus.around, asked, start_paths(pool, order))

    assert (
        score_boosts(pool, [found]).tolist()
        == score_boosts(pool, [extend_paths(pool, corpus.around, asked, start_paths(pool, range(4)))]).tolist()
    )


def test_a_lift_counts_what_every_trail_makes_of_a_passage(corpus: Corpus) -> None:
    pool = corpus.pool(QUESTION)
    single = PathExtension((GraphPath((0,), 0.5),), pool.ordinals[1:2], np.array([[0.2]]), np.zeros(1))

    once, twice = score_boosts(pool, [single]), score_boosts(pool, [single, single])

    assert twice[1] > once[1] > 0
    assert once[0] == 0
