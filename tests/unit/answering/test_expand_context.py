"""Passages that grow by their section and by the header of their table."""

from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.answering.evidence.expand_context import (
    EXPANDED_PASSAGES,
    NEIGHBOUR_SHARE,
    TABLE_LOOKBACK_CHUNKS,
    expand_passages,
    neighbour_positions,
)
from agentic_rag.answering.extraction.extractive import draft_part
from agentic_rag.answering.extraction.subquery import build_subquery
from agentic_rag.answering.plan import AnswerType
from agentic_rag.answering.verification.check import check, write
from agentic_rag.documents.document import Chunk, ChunkPosition, RevisionSpan
from agentic_rag.language.token_estimate import estimate_tokens
from agentic_rag.retrieval.candidates import SECTION, Candidate, Passage

ROOMY = 10_000
TABLE = [
    "Fees by vessel class\n| Class | Harbour fee | Pilot fee |\n| --- | --- | --- |\n| Alder | 120 | 40 |",
    "| Birch | 130 | 45 |\n| Cedar | 140 | 50 |",
    "| Damson | 150 | 55 |\n| Elder | 160 | 60 |",
]


def chunks(*texts: str, headings: tuple[str, ...] = (), document: int = 1, gap: str = "\n") -> list[Chunk]:
    """The chunks of one document, one beside the other; `headings` gives each its section."""
    found: list[Chunk] = []
    start = 0
    for index, text in enumerate(texts):
        path = (headings[index],) if headings else ("Section",)
        found.append(
            Chunk(
                100 * document + index, UUID(int=1000 * document + index), UUID(int=document), UUID(int=50 + document),
                index, text, start, start + len(text), None, 1, 1, path, "Harbour tariff", "tariff.md", None,
                "text/plain",
            )
        )  # fmt: skip
        start += len(text) + len(gap)
    return found


def passage(chunk: Chunk, score: float = 0.8) -> Passage:
    return Passage(chunk, Candidate(chunk.ordinal, score, ()))


def test_a_passage_grows_by_what_stands_beside_it_in_its_section() -> None:
    one, two, three, four = chunks("Aa.", "Bb.", "Cc.", "Dd.", headings=("x", "y", "y", "y"))
    found = expand_passages([passage(three)], [one, two, four], ROOMY)
    assert [each.chunk for each in found] == [three, four, two]
    assert {each.candidate.score for each in found[1:]} == {round(NEIGHBOUR_SHARE * 0.8, 6)}
    assert [each.origin for each in found[1:]] == [SECTION, SECTION]


@given(
    st.lists(st.sampled_from(["one two three", "a", "longwordwithoutend", "1.5 % of 3", "  "]), min_size=2), st.data()
)
def test_what_grows_is_what_the_tokens_leave_room_for(texts: list[str], data: st.DataObject) -> None:
    found = chunks(*texts)
    place = data.draw(st.integers(0, len(found) - 1))
    budget = data.draw(st.integers(0, 30))
    left = budget - estimate_tokens(texts[place])
    expected: list[int] = []
    for beside in (place + 1, place - 1):
        if 0 <= beside < len(found) and estimate_tokens(texts[beside]) <= left:
            left -= estimate_tokens(texts[beside])
            expected.append(beside)
    beside_it = [one for one in found if one.index != place]
    assert [each.chunk.index for each in expand_passages([passage(found[place])], beside_it, budget)[1:]] == expected


def test_another_section_is_not_read_along() -> None:
    one, two, three = chunks("Aa.", "Bb.", "Cc.", headings=("x", "y", "z"))
    assert [each.chunk for each in expand_passages([passage(two)], [one, three], ROOMY)] == [two]


def test_what_was_found_itself_keeps_its_place_and_score() -> None:
    one, two = chunks("Aa.", "Bb.")
    first, second = passage(two), passage(one, 0.5)
    assert expand_passages([first, second], [], ROOMY) == (first, second)


def test_the_token_budget_bounds_growth() -> None:
    one, two, three = chunks("Aa bb cc dd ee ff.", "Gg.", "Hh ii.")
    assert [each.chunk for each in expand_passages([passage(two)], [one, three], 6)] == [two, three]
    assert [each.chunk for each in expand_passages([passage(two)], [one, three], 2)] == [two]


def test_only_the_first_passages_grow_and_reads_are_bounded() -> None:
    found = [passage(chunks(*["| a | b | c |"] * 12, document=number)[9]) for number in range(1, 9)]
    places = neighbour_positions(found)
    assert len(places) == EXPANDED_PASSAGES * (TABLE_LOOKBACK_CHUNKS + 1)
    assert {place.document_id for place in places} == {UUID(int=number) for number in range(1, EXPANDED_PASSAGES + 1)}


def test_what_is_there_already_is_not_asked_for() -> None:
    one, two, three = chunks("Aa.", "Bb.", "Cc.")
    assert neighbour_positions([passage(two), passage(three)]) == [
        ChunkPosition(one.document_id, one.revision_id, 0),
        ChunkPosition(one.document_id, one.revision_id, 3),
    ]


def test_a_row_of_a_split_table_is_read_under_its_header_and_cited_where_it_stands() -> None:
    first, second, third = chunks(*TABLE)
    found = expand_passages([passage(third)], [first, second], ROOMY)
    draft = draft_part(build_subquery("What is the pilot fee for class Elder?", AnswerType.FIGURE, {}), 0, found, 1)
    sentence = draft.sentences[0]
    assert sentence.text == "Elder — Harbour fee: 160; Pilot fee: 60."
    quote = third.text[sentence.start : sentence.end]
    written = write(check([sentence], found, [RevisionSpan(quote, None)]), found)
    cited = written.citations[0]
    assert (cited.chunk_id, cited.snippet) == (third.chunk_id, "| Elder | 160 | 60 |")
    assert cited.source_span.start == third.start + third.text.index("| Elder")


def test_the_first_row_of_a_later_piece_is_no_header() -> None:
    first, second, third = chunks(
        "| Class | Berth | Colour |\n| Alder | north | red |",
        "| Birch | east | blue |\n| Cedar | west | grey |",
        "Text.",
    )
    found = expand_passages([passage(second)], [first, third], ROOMY)
    draft = draft_part(build_subquery("Which berth has class Birch?", AnswerType.FACT, {}), 0, found, 1)
    assert draft.sentences[0].text == "Birch — Berth: east; Colour: blue."


def test_a_table_whose_beginning_is_out_of_reach_has_no_header() -> None:
    rows = [
        "| Class | Berth | Colour |",
        *[f"| Row{number} | north | red |" for number in range(TABLE_LOOKBACK_CHUNKS + 2)],
    ]
    every = chunks(*rows)
    found = expand_passages([passage(every[-1])], every[-1 - TABLE_LOOKBACK_CHUNKS : -1], ROOMY)
    assert found[0].table_head == ""
