"""Exact BM25 over segments: laws against a naive implementation."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.language.tokenizer import search_terms, term_counts, term_key
from agentic_rag.retrieval.candidates import ArmHit
from agentic_rag.retrieval.lexical.bm25 import K1, B, VisiblePostings, absolute_score
from agentic_rag.retrieval.lexical.postings import SegmentRow, build_segment

NOTHING = np.zeros(0, np.int32)
WORDS = ["pump", "rotor", "oil", "seal", "the", "unit"]


@dataclass(frozen=True)
class Passage:
    ordinal: int
    words: tuple[str, ...]
    access: int
    visible_from: int

    @property
    def row(self) -> SegmentRow:
        return SegmentRow(self.ordinal, self.access, self.visible_from, term_counts(" ".join(self.words)))


@dataclass(frozen=True)
class Reader:
    closed: frozenset[int] = frozenset()
    version: int = 9
    access: tuple[int, ...] = (0, 1, 2)
    allowed: frozenset[int] | None = None

    def sees(self, passage: Passage) -> bool:
        return (
            passage.ordinal not in self.closed
            and passage.visible_from <= self.version
            and passage.access in self.access
        )


def visible_to(reader: Reader, passages: Sequence[Passage], parts: int = 1) -> VisiblePostings:
    segments = [build_segment(passage.row for passage in passages[part::parts]) for part in range(parts)]
    return VisiblePostings.of(segments, np.array(sorted(reader.closed), np.int32), reader.version, reader.access)


def search(
    passages: Sequence[Passage], question: dict[str, int], reader: Reader, parts: int = 1, limit: int = 100
) -> list[ArmHit]:
    allowed = None if reader.allowed is None else np.array(sorted(reader.allowed), np.int32)
    return visible_to(reader, passages, parts).search(question, allowed, limit)


def naive(passages: Sequence[Passage], question: dict[str, int], reader: Reader) -> dict[int, tuple[float, float]]:
    """BM25 and absolute score as the definitions say, passage by passage."""
    seen = [passage for passage in passages if reader.sees(passage)]
    total = sum(len(passage.words) for passage in seen)
    if not total:
        return {}
    average = total / len(seen)
    holding = {term: sum(term in passage.words for passage in seen) for term in question}
    idf = {term: math.log(1 + (len(seen) - df + 0.5) / (df + 0.5)) for term, df in holding.items()}
    bound = sum(count * idf[term] * (K1 + 1) for term, count in question.items())
    scores: dict[int, tuple[float, float]] = {}
    for passage in seen:
        frequency = Counter(passage.words)
        penalty = K1 * (1 - B + B * len(passage.words) / average)
        bm25 = sum(
            count * idf[term] * frequency[term] * (K1 + 1) / (frequency[term] + penalty)
            for term, count in question.items()
            if frequency[term]
        )
        covered = sum(idf[term] for term in question if frequency[term]) / sum(idf.values())
        if bm25 > 0 and (reader.allowed is None or passage.ordinal in reader.allowed):
            scores[passage.ordinal] = (bm25, (0.8 * bm25 / bound + 0.25 * covered) / 1.05)
    return scores


passages = st.dictionaries(
    st.integers(0, 400),
    st.tuples(st.lists(st.sampled_from(WORDS), max_size=15), st.integers(0, 2), st.integers(1, 9)),
    max_size=25,
).map(
    lambda chosen: [
        Passage(ordinal, tuple(words), access, version) for ordinal, (words, access, version) in chosen.items()
    ]
)
questions = st.dictionaries(st.sampled_from([*WORDS, "unknown"]), st.integers(1, 3), min_size=1, max_size=5)
readers = st.builds(
    Reader,
    st.frozensets(st.integers(0, 400), max_size=8),
    st.integers(1, 9),
    st.sets(st.integers(0, 2), min_size=1).map(tuple),
    st.none() | st.frozensets(st.integers(0, 400), max_size=60),
)


@given(passages, questions, readers)
def test_it_equals_bm25_computed_passage_by_passage(
    corpus: list[Passage], question: dict[str, int], reader: Reader
) -> None:
    expected = naive(corpus, question, reader)

    hits = search(corpus, question, reader)

    assert {hit.ordinal for hit in hits} == set(expected)
    for hit in hits:
        assert hit.raw == pytest.approx(expected[hit.ordinal][0], abs=1e-6)
        assert hit.score == pytest.approx(expected[hit.ordinal][1], abs=2e-6)
        assert 0 <= hit.score <= 1


def test_a_stem_that_is_spelled_as_an_english_function_word_counts_for_coverage() -> None:
    question = dict(search_terms("¿Quién faltó a la junta de mayo?"))
    corpus = [Passage(0, ("junt", "may", "falt"), 0, 1), Passage(1, ("junt", "falt", "fuent"), 0, 1)]

    assert set(question) == {"falt", "junt", "may"}
    assert (visible_to(Reader(), corpus).profile(question, np.array([0], np.int64)).idf > 0).all()


@given(passages, questions, readers, st.integers(1, 4))
def test_a_profile_in_two_parts_is_that_of_all_chunks(
    corpus: list[Passage], question: dict[str, int], reader: Reader, parts: int
) -> None:
    visible = visible_to(reader, corpus, parts)
    wanted = np.array([passage.ordinal for passage in corpus if reader.sees(passage)], np.int64)

    whole = visible.profile(question, wanted)
    first, second = (visible.profile(question, some) for some in (wanted[:parts], wanted[parts:]))

    both = first.beside(second)
    assert both.present.tolist() == whole.present.tolist()
    assert both.gain.tolist() == whole.gain.tolist()
    assert (both.bound, both.idf.tolist()) == (whole.bound, whole.idf.tolist())


@given(passages, questions, readers, st.integers(1, 4))
def test_a_profile_takes_a_score_apart_term_by_term(
    corpus: list[Passage], question: dict[str, int], reader: Reader, parts: int
) -> None:
    hits = {hit.ordinal: hit for hit in search(corpus, question, replace(reader, allowed=None))}
    wanted = [passage.ordinal for passage in corpus if reader.sees(passage)]

    profile = visible_to(reader, corpus, parts).profile(question, np.array(wanted, np.int64))

    columns = sorted(question, key=term_key)
    words = {passage.ordinal: passage.words for passage in corpus}
    assert profile.present.tolist() == [[term in words[ordinal] for term in columns] for ordinal in wanted]
    for ordinal, gain in zip(wanted, profile.gain.sum(axis=1), strict=True):
        raw = hits[ordinal].raw if ordinal in hits else 0.0
        assert gain * profile.bound == pytest.approx(raw, abs=1e-6)


@given(passages, questions, readers, st.integers(2, 6), st.integers(1, 10))
def test_the_result_does_not_depend_on_how_chunks_are_divided(
    corpus: list[Passage], question: dict[str, int], reader: Reader, parts: int, limit: int
) -> None:
    assert search(corpus, question, reader, parts, limit) == search(corpus, question, reader, 1, limit)


@given(passages, questions, readers)
def test_what_is_invisible_might_as_well_never_have_been(
    corpus: list[Passage], question: dict[str, int], reader: Reader
) -> None:
    remaining = [passage for passage in corpus if reader.sees(passage)]

    assert search(corpus, question, reader) == search(remaining, question, Reader(allowed=reader.allowed))


@given(passages, questions, st.integers(1, 10))
def test_a_limit_cuts_the_full_ranking(corpus: list[Passage], question: dict[str, int], limit: int) -> None:
    everything = search(corpus, question, Reader())

    assert everything == sorted(everything, key=lambda hit: (-hit.raw, hit.ordinal))
    assert search(corpus, question, Reader(), limit=limit) == everything[:limit]


@given(passages, questions, st.frozensets(st.integers(0, 400), max_size=60))
def test_a_filter_narrows_the_results_and_not_the_statistics(
    corpus: list[Passage], question: dict[str, int], allowed: frozenset[int]
) -> None:
    everything = search(corpus, question, Reader())

    assert search(corpus, question, Reader(allowed=allowed)) == [hit for hit in everything if hit.ordinal in allowed]


def test_ties_go_to_the_lower_ordinal() -> None:
    corpus = [Passage(ordinal, ("pump",), 0, 1) for ordinal in (9, 3, 5)]

    assert [hit.ordinal for hit in search(corpus, {"pump": 1}, Reader(), limit=2)] == [3, 5]


def test_an_unknown_rare_word_lowers_the_score_of_what_matches_the_rest() -> None:
    corpus = [Passage(1, ("pump", "oil"), 0, 1), Passage(2, ("seal",), 0, 1)]

    alone = search(corpus, {"pump": 1}, Reader())[0].score
    beside_unknown = search(corpus, {"pump": 1, "unknown": 1}, Reader())[0].score

    assert beside_unknown < alone


def test_no_segments_no_terms_and_no_access_find_nothing() -> None:
    corpus = [Passage(1, ("pump",), 0, 1)]

    assert VisiblePostings.of([], NOTHING, 1, (0,)).search({"pump": 1}, {"pump"}, None, 10) == []
    assert search(corpus, {}, Reader()) == []
    assert search(corpus, {"pump": 1}, Reader(access=())) == []
    assert search(corpus, {"pump": 1}, Reader(), limit=0) == []


def test_the_absolute_score_is_one_for_a_perfect_and_zero_for_no_match() -> None:
    assert absolute_score(2.0, 2.0, 1.0) == 1.0
    assert absolute_score(0.0, 0.0, 0.0) == 0.0
    assert absolute_score(1.0, 2.0, 0.5) == round((0.4 + 0.125) / 1.05, 6)
