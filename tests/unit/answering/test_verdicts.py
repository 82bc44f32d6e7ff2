"""A verdict is given where the sentences cited prove it, and nowhere else."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID, uuid5

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.answering.extraction.extractive import DraftSentence
from agentic_rag.answering.extraction.text_units import UnitKind
from agentic_rag.answering.verdicts.draft import draft_verdict
from agentic_rag.answering.verdicts.nationalities import are_exclusive, nationality_of
from agentic_rag.answering.verdicts.rules import follows, parse_decidable
from agentic_rag.answering.verdicts.statements import QuotedSentence
from agentic_rag.answering.verification.check import check, write
from agentic_rag.answering.verification.citations import quotes_of
from agentic_rag.documents.document import Chunk, RevisionSpan
from agentic_rag.retrieval.candidates import Candidate, Passage

Said = tuple[str, str]
"""Title and text."""


def passages_of(*said: Said) -> list[Passage]:
    made: list[Passage] = []
    for place, (title, text) in enumerate(said):
        document = uuid5(UUID(int=0), f"{title}{place}")
        chunk = Chunk(
            place, document, document, document, 0, text, 0, len(text), 1, 1, 1, (), title, title, None, "text/plain"
        )
        made.append(Passage(chunk, Candidate(place, 0.6 - place / 100, ())))
    return made


def verdict(question: str, *said: Said) -> str | None:
    found = draft_verdict(question, passages_of(*said))
    return None if found is None else found.text


ANNA: Said = ("Anna Berg", "Anna Maria Berg (born 3 May 1921) was a Swedish painter.")
OTTO: Said = ("Otto Lind (painter)", "Otto Lind (1934 – 9 May 2001) was a Swedish painter, known for lighthouses.")
JANE: Said = ("Jane Poe", "Jane Poe (Greek: Ποε; born Jane Roe on July 2, 1990) is an English rower.")
MILL: Said = ("Old Mill", "The Old Mill Company is a baker in Wells. The Old Mill was founded by two bakers in 1871.")
QUAY: Said = ("Quay Works", "Quay Works is a boatyard, established in March 1902 and sold in 1950.")
DRIFT: Said = ("Drift (film)", "Drift is a 1986 British drama film about a harbour.")
TIDES: Said = ("Tides", "Tides is a novel. It sold well. Tides was released on 4 June 1999.")
NORTH: Said = ("North Tower", "North Tower is a 628 ft (191 m) tall office building with 46 floors.")
SOUTH: Said = ("South Tower", "The South Tower has a height of 500 feet, and it has 52 floors.")
DOCK: Said = ("Dock A", "Dock A has a capacity of 4,000 pallets.")
SHED: Said = ("Shed B", "Shed B has a capacity of 1.2 thousand pallets.")
SALES: Said = ("Report", "Net sales were $94.8 million in 2022, compared with $97.3 million in 2021.")


@pytest.mark.parametrize(
    ("question", "said", "wanted"),
    [
        (
            "Who was born first, Anna Berg or Otto Lind?",
            (OTTO, ANNA),
            "Earlier: Anna Berg (3 May 1921), before Otto Lind (1934).",
        ),
        (
            "Who is younger: Anna Berg or Jane Poe?",
            (ANNA, JANE),
            "Younger: Jane Poe (2 July 1990), after Anna Berg (3 May 1921).",
        ),
        (
            "Between Anna Berg and Otto Lind, who is older?",
            (ANNA, OTTO),
            "Older: Anna Berg (3 May 1921), before Otto Lind (1934).",
        ),
        ("Was Otto Lind born before Anna Berg?", (OTTO, ANNA), "No: Otto Lind (1934), after Anna Berg (3 May 1921)."),
        (
            "Is Anna Berg older than Jane Poe?",
            (ANNA, JANE),
            "Yes: Anna Berg (3 May 1921), before Jane Poe (2 July 1990).",
        ),
        (
            "Which was founded later, the Old Mill or Quay Works?",
            (MILL, QUAY),
            "Later: Quay Works (March 1902), after Old Mill (1871).",
        ),
        (
            "Which is older, Old Mill or Quay Works?",
            (MILL, QUAY),
            "Older: Old Mill (1871), before Quay Works (March 1902).",
        ),
        (
            "Which came out first, the film Drift or Tides?",
            (DRIFT, TIDES),
            "Earlier: Drift (1986), before Tides (4 June 1999).",
        ),
        (
            "Which came first, the founding of Quay Works or the birth of Anna Berg?",
            (QUAY, ANNA),
            "Earlier: Quay Works (March 1902), before Anna Berg (3 May 1921).",
        ),
        (
            "Which is taller, North Tower or South Tower?",
            (NORTH, SOUTH),
            "Taller: North Tower (628 ft), against South Tower (500 feet).",
        ),
        (
            "Which has fewer floors, North Tower or South Tower?",
            (NORTH, SOUTH),
            "Fewer: North Tower (46 floors), against South Tower (52 floors).",
        ),
        (
            "Which has a higher capacity, Dock A or Shed B?",
            (DOCK, SHED),
            "Higher: Dock A (4,000 pallets), against Shed B (1.2 thousand pallets).",
        ),
        (
            "Is North Tower taller than South Tower?",
            (NORTH, SOUTH),
            "Yes: North Tower (628 ft), against South Tower (500 feet).",
        ),
        (
            "Does Dock A have a lower capacity than Shed B?",
            (DOCK, SHED),
            "No: Dock A (4,000 pallets), against Shed B (1.2 thousand pallets).",
        ),
        (
            "Did net sales grow from 2021 to 2022?",
            (SALES,),
            "No: net sales, $97.3 million in 2021, $94.8 million in 2022.",
        ),
        (
            "Were net sales lower in 2022 than in 2021?",
            (SALES,),
            "Yes: net sales, $97.3 million in 2021, $94.8 million in 2022.",
        ),
        ("Are Anna Berg and Otto Lind both painters?", (ANNA, OTTO), "Yes: Anna Berg and Otto Lind are both painters."),
        (
            "Were Anna Berg and Otto Lind both from Sweden?",
            (ANNA, OTTO),
            "Yes: Anna Berg and Otto Lind are both Swedish.",
        ),
        ("Are both Anna Berg, and Jane Poe Swedish?", (ANNA, JANE), "No: Anna Berg is Swedish, Jane Poe is English."),
        (
            "Were Anna Berg and Jane Poe of the same nationality?",
            (ANNA, JANE),
            "No: Anna Berg is Swedish, Jane Poe is English.",
        ),
        ("Is smoking allowed in the north hangar?", (("Rules", "Smoking is not allowed in the north hangar."),), "No."),
        ("Does the north pump need mineral oil?", (("Manual", "The north pump (type B) needs mineral oil."),), "Yes."),
        ("Did the board approve the merger?", (("Notes", "The board did not approve the merger."),), "No."),
    ],
)
def test_what_the_sentences_prove_is_said(question: str, said: tuple[Said, ...], wanted: str | None) -> None:
    assert verdict(question, *said) == wanted


@pytest.mark.parametrize(
    ("question", "said"),
    [
        # Dates that may be the same, are vague, or belong to something else.
        ("Who is older, Ada Orr or Otto Lind?", (("Ada Orr", "Ada Orr (born May 1934) is a poet."), OTTO)),
        ("Who is older, Ada Orr or Otto Lind?", (("Ada Orr", "Ada Orr (c. 1902 – 1950) was a poet."), OTTO)),
        ("Who is older, Ada Orr or Otto Lind?", (("Ada Orr", "Ada Orr is a poet whose son was born in 1950."), OTTO)),
        ("Who is older, Ada Orr or Otto Lind?", (("Ada Orr", "Ada Orr Hall (born 1921) is a poet."), OTTO)),
        ("Who is older, Ada Orr or Otto Lind?", (("Poets", "Ada Maria Orr (born 1921) is a poet."), OTTO)),
        ("Who is older, Ada Orr or Otto Lind?", (("Ada Orr", "The poet Ada Orr."), OTTO)),
        ("Who is older, Ada Orr or Otto Lind?", (OTTO,)),
        ("Which was founded first, Old Mill or Sea Ltd?", (MILL, ("Sea Ltd", "Sea Ltd was founded in the 1950s."))),
        ("Which was founded first, Old Mill or Sea Ltd?", (MILL, ("Sea Ltd", "Sea Ltd was not founded in 1950."))),
        (
            "Which was founded first, Old Mill or Sea Ltd?",
            (MILL, ("Sea Ltd", "Sea Ltd is part of Bo Corp, founded in 1923.")),
        ),
        (
            "Which was founded first, Old Mill or Sea Ltd?",
            (MILL, ("Sea Ltd", "Sea Ltd was founded when it was sold in 1923.")),
        ),
        (
            "Which was founded first, Old Mill or Sea Ltd?",
            (MILL, ("Sea Ltd", "Sea Ltd was founded in 1923 and founded in 1930.")),
        ),
        # Two passages that disagree.
        (
            "Who was born first, Anna Berg or Otto Lind?",
            (ANNA, OTTO, ("Anna Berg", "Anna Berg (born 1950) is a pilot.")),
        ),
        # Other units, estimates, several figures, equal ones.
        ("Which is taller, North Tower or Mast?", (NORTH, ("Mast", "Mast is a 90 m tall antenna."))),
        ("Which is taller, North Tower or Mast?", (NORTH, ("Mast", "Mast is an about 900 ft tall antenna."))),
        ("Which is taller, North Tower or Mast?", (NORTH, ("Mast", "Mast was 90 ft tall, later 900 ft tall."))),
        ("Which is taller, North Tower or Mast?", (NORTH, ("Mast", "Mast is next to one that is 900 ft tall."))),
        ("Which is taller, North Tower or Mast?", (NORTH, ("Mast", "Mast is 628 ft tall."))),
        (
            "Did net sales grow from 2021 to 2022?",
            (("Report", "Net sales were $5 million in 2022 and costs were $4 million in 2021."),),
        ),
        (
            "Did net sales grow from 2021 to 2022?",
            (("Report", "Net sales of bread were $5 million in 2022 and $4 million in 2021."),),
        ),
        (
            "Did net sales grow from 2021 to 2022?",
            (("Report", "Net sales were $5 million in 2022 and $5 million in 2021."),),
        ),
        ("Did net sales grow from 2021 to 2022?", (("Report", "Net sales did not reach $5 million in 2022."),)),
        # A kind or a nationality that is not said of each.
        ("Are Anna Berg and Jane Poe both painters?", (ANNA, JANE)),
        ("Are Anna Berg and Jane Poe both Swedish?", (ANNA, ("Jane Poe", "Jane Poe is a Swedish-American rower."))),
        (
            "Are Anna Berg and Jane Poe both Swedish?",
            (ANNA, ("Jane Poe", "Jane Poe is a Dutch rower, later of Sweden.")),
        ),
        ("Are Anna Berg and Jane Poe both Swedish?", (ANNA, ("Jane Poe", "Jane Poe is not Dutch."))),
        ("Are Al Roe and Jane Poe both British?", (("Al Roe", "Al Roe is a British cook."), JANE)),
        ("Are Anna Berg and Otto Lind both painters?", (ANNA, ("Otto Lind", "Otto Lind is a former painter."))),
        # What a condition, an addition or another word leaves open.
        (
            "Is smoking allowed in the north hangar?",
            (("Rules", "Smoking is allowed in the north hangar only at noon."),),
        ),
        ("Is smoking allowed in the north hangar?", (("Rules", "Smoking is allowed in the north hangar yard."),)),
        ("Is smoking allowed in the north hangar?", (("Rules", "Smoking is never not allowed in the north hangar."),)),
        ("Is smoking allowed in the north hangar?", (("Rules", "Smoking in the north hangar is allowed."),)),
        ("Is smoking allowed in the north hangar?", (("Rules", "Smoking rooms exist in the north hangar."),)),
    ],
)
def test_nothing_is_said_that_the_sentences_leave_open(question: str, said: tuple[Said, ...]) -> None:
    assert parse_decidable(question)
    assert verdict(question, *said) is None


@pytest.mark.parametrize(
    "question",
    [
        "Who founded the Old Mill?",
        "Who was the first president, Anna Berg or Otto Lind?",
        "Which was first founded earlier, Old Mill or Quay Works?",
        "Which came first, the sinking of Drift or the birth of Anna Berg?",
        "Which has more of it, Dock A or Shed B?",
        "Which is taller, A or B or C?",
        "Are Anna Berg and Otto Lind both from Lund?",
        "Are Anna Berg and Otto Lind both used for it?",
        "Is it always open?",
        "Is it so?",
    ],
)
def test_a_question_that_no_rule_reads_for_certain_is_left_alone(question: str) -> None:
    assert parse_decidable(question) == ()


def drafted(*said: Said) -> tuple[DraftSentence, list[Passage], list[RevisionSpan]]:
    passages = passages_of(*said)
    found = draft_verdict("Who was born first, Anna Berg or Otto Lind?", passages)
    assert found is not None
    stored = [RevisionSpan(passages[one.passage].chunk.text[one.start : one.end], 1) for one in quotes_of(found)]
    return found, passages, stored


def test_a_verdict_cites_a_sentence_for_each_side_and_these_keep_their_markers() -> None:
    found, passages, stored = drafted(ANNA, OTTO)
    quote = DraftSentence(0, 1, 0, len(OTTO[1]), OTTO[1], UnitKind.PROSE, 1.0)

    written = write(check([found, quote], passages, [*stored, RevisionSpan(OTTO[1], 1)]), passages)

    assert written.text == f"Earlier: Anna Berg (3 May 1921), before Otto Lind (1934). [1][2] {OTTO[1]} [2]"
    assert [one.snippet for one in written.citations] == [ANNA[1], OTTO[1]]
    assert [len(one.answer_spans) for one in written.citations] == [1, 2]


@pytest.mark.parametrize(
    "wrong",
    [
        "Earlier: Otto Lind (1934), before Anna Berg (3 May 1921).",
        "Later: Otto Lind (1934), after Anna Berg (3 May 1921).",
        "Earlier: Anna Berg (3 May 1921), before Otto Lind (2001).",
    ],
)
def test_a_verdict_that_does_not_follow_from_what_it_cites_is_refused(wrong: str) -> None:
    found, passages, stored = drafted(ANNA, OTTO)

    checked = check([replace(found, text=wrong)], passages, stored)

    assert [one.guardrail for one in checked.refused] == ["verdict_not_proved"]


def test_a_verdict_whose_side_is_not_cited_is_refused() -> None:
    found, passages, stored = drafted(ANNA, OTTO)

    checked = check([replace(found, more_quotes=())], passages, stored[:1])

    assert [one.guardrail for one in checked.refused] == ["verdict_not_proved"]


def test_a_sentence_that_was_refused_proves_nothing() -> None:
    passages = passages_of(ANNA, OTTO)

    assert draft_verdict("Who was born first, Anna Berg or Otto Lind?", passages, frozenset([(0, 0)])) is None


DAYS = st.tuples(st.integers(1, 28), st.sampled_from(["May", "June"]), st.integers(1900, 1990))


@given(DAYS, DAYS)
def test_whoever_is_asked_for_first_the_verdict_is_the_same(
    one: tuple[int, str, int], other: tuple[int, str, int]
) -> None:
    first = QuotedSentence("Ada Orr", "Ada Orr (born {} {} {}) is a poet.".format(*one))
    second = QuotedSentence("Bo Ek", "Bo Ek was born in Lund on {} {} {}.".format(*other))
    said = ["Earlier: Ada Orr ({} {} {}), before Bo Ek ({} {} {}).".format(*one, *other)]
    said.append("Earlier: Bo Ek ({} {} {}), before Ada Orr ({} {} {}).".format(*other, *one))
    earlier = (one[2], one[1] == "June", one[0]) < (other[2], other[1] == "June", other[0])
    wanted = set() if one == other else {said[0] if earlier else said[1]}

    for names, sources in (("Ada Orr or Bo Ek", (first, second)), ("Bo Ek or Ada Orr", (second, first))):
        question = f"Who was born first, {names}?"
        assert {text for text in said if follows(text, question, sources)} == wanted


def test_one_nationality_may_include_another() -> None:
    assert nationality_of("the United States") == "american"
    assert nationality_of("Mars") is None
    assert are_exclusive("swedish", "english")
    assert not are_exclusive("english", "british")
