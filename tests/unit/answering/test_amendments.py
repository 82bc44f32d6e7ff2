"""What another document says was changed is shown beside what is quoted."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest
from tests.unit.answering.test_extractive import passage

from agentic_rag.answering.extraction.extractive import DraftSentence, ExcludedSpans
from agentic_rag.answering.extraction.subquery import build_subquery
from agentic_rag.answering.extraction.text_units import UnitKind
from agentic_rag.answering.query.planner import detect_answer_type
from agentic_rag.answering.stages.amendments import find_amendment
from agentic_rag.retrieval.candidates import Passage

NOTHING: ExcludedSpans = frozenset()


def amendment_of(question: str, quoted: str, other: str, excluded: ExcludedSpans = NOTHING) -> str | None:
    part = build_subquery(question, detect_answer_type(question), {}, (), [quoted, other])
    said = DraftSentence(0, 0, 0, len(quoted), quoted, UnitKind.PROSE, 1.0)
    found = find_amendment(part, [said], [passage(1, "Lease", quoted), of_another(other)], excluded)
    return None if found is None else found.text


def of_another(text: str) -> Passage:
    made = passage(2, "Amendment", text)
    return replace(made, chunk=replace(made.chunk, document_id=UUID(int=77)))


@pytest.mark.parametrize(
    ("question", "quoted", "other"),
    [
        (
            "When does the lease end?",
            "The lease runs until 31 March 2026.",
            "The end of the lease is moved from 31 March 2026 to 31 March 2030.",
        ),
        (
            "What is the rent?",
            "The rent is 1,850 pounds a month.",
            "From 1 October 2025 the rent is 2,140 pounds a month instead of 1,850 pounds.",
        ),
        (
            "What load may be connected?",
            "The connected load is 25 kilowatts at most.",
            "The connected load in clause 6 is raised from 25 to 38 kilowatts.",
        ),
        (
            "Wie hoch ist die Kaution?",
            "Die Kaution beträgt 500 Euro.",
            "Die Kaution wird von 500 Euro auf 700 Euro erhöht.",
        ),
        ("Wie hoch ist die Miete?", "Die Miete beträgt 900 Euro.", "Die Miete beträgt 950 Euro statt 900 Euro."),
        (
            "Combien coûte la carte ?",
            "La carte coûte 12 euros.",
            "La carte coûte 15 euros au lieu de 12 euros depuis mai.",
        ),
    ],
)
def test_a_changed_value_is_told_with_the_one_in_its_place(question: str, quoted: str, other: str) -> None:
    assert amendment_of(question, quoted, other) == other


@pytest.mark.parametrize(
    ("question", "quoted", "other"),
    [
        (
            "What is the rent?",
            "The rent is 1,850 pounds.",
            "The rent of the cellar is 240 pounds instead of 200 pounds.",
        ),
        ("What is the rent?", "The rent is 1,850 pounds.", "The rent is 1,850 pounds instead of 1,700 pounds."),
        ("What is the rent?", "The rent is 1,850 pounds.", "The price is 2,140 pounds instead of 1,850 pounds."),
        ("Why is the rent 1,850 pounds?", "The rent is 1,850 pounds.", "The rent is 2,140 instead of 1,850 pounds."),
        ("What is the rent?", "The rent is paid in advance.", "The rent is 2,140 pounds instead of 1,850 pounds."),
    ],
)
def test_what_changes_nothing_of_the_quote_is_no_amendment(question: str, quoted: str, other: str) -> None:
    assert amendment_of(question, quoted, other) is None


def test_a_sentence_that_the_self_check_refused_is_not_shown_again() -> None:
    other = "The rent is 2,140 pounds instead of 1,850 pounds."

    assert amendment_of("What is the rent?", "The rent is 1,850 pounds.", other) == other
    assert amendment_of("What is the rent?", "The rent is 1,850 pounds.", other, frozenset({(2, 0)})) is None


@pytest.mark.parametrize(
    "other",
    [
        "The rent is paid instead of (say) a deposit.",
        "The rent is no longer; it was.",
        "The rent rose from   to 5 pounds.",
    ],
)
def test_a_change_that_names_no_value_is_none(other: str) -> None:
    assert amendment_of("What is the rent?", "The rent is 1,850 pounds.", other) is None


def test_only_what_answers_is_looked_for_in_amendments() -> None:
    load, term = "The connected load of the mill is 25 kilowatts.", "The lease of the mill runs until 31 March 2026."
    other = "The lease of the mill is moved from 31 March 2026 to 31 March 2030."
    text = f"{load} {term}"

    def has_amendment(question: str) -> bool:
        part = build_subquery(question, detect_answer_type(question), {}, (), [text, other])
        places = [(text.index(one), one) for one in (load, term)]
        said = [DraftSentence(0, 0, at, at + len(one), one, UnitKind.PROSE, 1.0) for at, one in places]
        return find_amendment(part, said, [passage(1, "Mill", text), of_another(other)], NOTHING) is not None

    assert has_amendment("When does the lease of the mill end?")
    assert not has_amendment("What is the connected load of the mill?")
