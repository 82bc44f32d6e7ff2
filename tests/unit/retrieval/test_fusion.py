"""Fusion: its laws."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.retrieval.arms.table import arm_weights
from agentic_rag.retrieval.candidates import ArmHit, Candidate, Retriever
from agentic_rag.retrieval.fusion import HASHED_TRUST, fuse, lexical_share
from agentic_rag.retrieval.fusion_options import FusionMethod, FusionWeights

Arms = dict[Retriever, list[ArmHit]]


def ranked(scores: dict[int, float]) -> list[ArmHit]:
    hits = [ArmHit(ordinal, score * 10, score) for ordinal, score in scores.items()]
    return sorted(hits, key=lambda hit: (-hit.score, hit.ordinal))


scores = st.floats(0, 1).map(lambda score: round(score, 6))
hit_lists = st.dictionaries(st.integers(0, 30), scores, max_size=12).map(ranked)
arms = st.dictionaries(st.sampled_from(Retriever), hit_lists, max_size=3)
shares = st.floats(0, 1)
weights = st.builds(FusionWeights, shares, shares, st.none() | shares)
methods = st.sampled_from(FusionMethod)


def fused(found: Arms, given: FusionWeights, method: FusionMethod = FusionMethod.WEIGHTED) -> list[Candidate]:
    return fuse(found, arm_weights(found, given), method)


def by_ordinal(candidates: Sequence[Candidate]) -> dict[int, Candidate]:
    return {candidate.ordinal: candidate for candidate in candidates}


@given(arms, weights, methods)
def test_the_order_of_the_arms_does_not_matter(found: Arms, given_weights: FusionWeights, method: FusionMethod) -> None:
    backwards = dict(reversed(found.items()))

    assert fused(found, given_weights, method) == fused(backwards, given_weights, method)


@given(arms, weights, methods)
def test_best_first_with_ties_by_ordinal(found: Arms, given_weights: FusionWeights, method: FusionMethod) -> None:
    candidates = fused(found, given_weights, method)

    assert candidates == sorted(candidates, key=lambda candidate: (-candidate.score, candidate.ordinal))
    assert len(by_ordinal(candidates)) == len(candidates)


@given(arms, weights)
def test_the_weighted_score_is_the_sum_over_the_arms_that_found_it(found: Arms, given_weights: FusionWeights) -> None:
    for candidate in fused(found, given_weights):
        assert candidate.score == pytest.approx(
            sum(score.weight * score.normalised for score in candidate.arms), abs=1e-6
        )
        assert {score.retriever for score in candidate.arms} == {
            retriever for retriever, hits in found.items() if any(hit.ordinal == candidate.ordinal for hit in hits)
        }


@given(arms, weights, methods, st.sampled_from(Retriever), st.integers(0, 11))
def test_a_higher_score_in_one_arm_never_lowers_a_candidate(
    found: Arms, given_weights: FusionWeights, method: FusionMethod, retriever: Retriever, place: int
) -> None:
    hits = found.get(retriever, [])
    if place >= len(hits):
        return
    raised = {hit.ordinal: hit.score for hit in hits} | {hits[place].ordinal: 1.0}
    before = by_ordinal(fused(found, given_weights, method)).get(hits[place].ordinal)

    after = by_ordinal(fused(found | {retriever: ranked(raised)}, given_weights, method)).get(hits[place].ordinal)

    if before is not None:
        assert after is not None
        assert after.score >= before.score


@given(arms, weights, methods)
def test_an_empty_arm_changes_nothing(found: Arms, given_weights: FusionWeights, method: FusionMethod) -> None:
    fixed = FusionWeights(given_weights.vector, given_weights.graph, 0.5)
    without = {retriever: hits for retriever, hits in found.items() if hits}

    assert fused(found, fixed, method) == fused(without, fixed, method)


@given(hit_lists, hit_lists, methods)
def test_weight_one_gives_the_ranking_of_that_arm(
    dense: list[ArmHit], lexical: list[ArmHit], method: FusionMethod
) -> None:
    found = {Retriever.DENSE: dense, Retriever.LEXICAL: lexical}

    candidates = fused(found, FusionWeights(1.0, 0.0, 1.0), method)

    assert [candidate.ordinal for candidate in candidates] == [hit.ordinal for hit in lexical]


@given(arms, methods)
def test_weight_zero_everywhere_finds_nothing(found: Arms, method: FusionMethod) -> None:
    assert fused(found, FusionWeights(0.0, 0.0), method) == []


def test_a_candidate_absent_from_an_arm_gets_exactly_nothing_from_it() -> None:
    found = {Retriever.DENSE: ranked({1: 0.5}), Retriever.LEXICAL: ranked({2: 0.5})}

    candidates = fused(found, FusionWeights(0.7, 0.3, 0.5))

    assert [(candidate.ordinal, candidate.score) for candidate in candidates] == [(1, 0.175), (2, 0.175)]


def test_rrf_gives_the_first_of_every_arm_the_sum_of_the_weights() -> None:
    found = {retriever: ranked({4: 0.9, 7: 0.1}) for retriever in Retriever}

    first, second = fused(found, FusionWeights(), FusionMethod.RRF)

    assert (first.ordinal, first.score) == (4, 1.0)
    assert second.score == round(61 / 62, 6)


def test_of_a_repeated_ordinal_the_first_counts() -> None:
    hits = [ArmHit(1, 0.9, 0.9), ArmHit(1, 0.2, 0.2)]

    (candidate,) = fused({Retriever.GRAPH: hits}, FusionWeights())

    assert [score.rank for score in candidate.arms] == [1]
    assert candidate.score == 0.27


def test_the_automatic_share_is_the_measured_formula() -> None:
    both: Arms = {Retriever.DENSE: [], Retriever.LEXICAL: []}

    assert lexical_share(both) == pytest.approx(1.05 / 2.05)
    assert lexical_share(both, HASHED_TRUST) == pytest.approx(1.05 / 1.15)
    assert lexical_share(both, 0.0) == 1.0


def test_an_arm_that_did_not_run_leaves_its_weight_to_the_other() -> None:
    assert lexical_share({Retriever.LEXICAL: []}) == 1.0
    assert lexical_share({Retriever.DENSE: []}) == 0.0


@pytest.mark.parametrize("trust", [-0.1, 1.1, float("nan")])
def test_trust_lies_between_zero_and_one(trust: float) -> None:
    with pytest.raises(ValueError, match="dense_trust"):
        lexical_share({}, trust)
