from dataclasses import replace
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.answering.extraction.extractive import DraftSentence
from agentic_rag.answering.extraction.text_units import UnitKind, format_unit
from agentic_rag.answering.verification.check import check, cite_nearest, write
from agentic_rag.answering.verification.citations import compose, span_request
from agentic_rag.documents.document import Chunk, RevisionSpan
from agentic_rag.retrieval.candidates import Candidate, Passage

TEXT = "Preface.\n\nCrew transfer stops at 1.5 m.\nThe master decides. See https://a.example for more."
OFFSET = 100


def _passage(text: str = TEXT, url: str | None = None) -> Passage:
    chunk = Chunk(
        4, UUID(int=1), UUID(int=2), UUID(int=3), 0, text, OFFSET, OFFSET + len(text), 1, 10, 12, ("Limits",), "Policy",
        "policy.md", url, "text/markdown",
    )  # fmt: skip
    return Passage(chunk, Candidate(4, 0.9, ()))


def _sentence(quote: str, text: str | None = None, passage: Passage | None = None) -> DraftSentence:
    start = (passage or _passage()).chunk.text.index(quote)
    return DraftSentence(0, 0, start, start + len(quote), text or format_unit(quote), UnitKind.PROSE, 1.0)


def _stored(sentence: DraftSentence, passage: Passage) -> RevisionSpan:
    return RevisionSpan(passage.chunk.text[sentence.start : sentence.end], 2)


def test_a_verified_sentence_is_written_with_the_exact_place_of_its_quote() -> None:
    passage = _passage()
    sentence = _sentence("Crew transfer stops at 1.5 m.")
    written = write(check([sentence], [passage], [_stored(sentence, passage)]), [passage])
    assert written.text == "Crew transfer stops at 1.5 m. [1]"
    citation = written.citations[0]
    assert citation.snippet == "Crew transfer stops at 1.5 m."
    assert citation.source_span.start == OFFSET + TEXT.index("Crew")
    assert span_request(sentence, [passage]).start == citation.source_span.start
    assert (citation.page, citation.line_start, citation.line_end) == (2, 12, 12)
    assert written.text[citation.answer_spans[0].start : citation.answer_spans[0].end] == written.text


@given(st.lists(st.sampled_from(["Crew transfer stops at 1.5 m.", "The master decides."]), min_size=1), st.data())
def test_no_citation_passes_whose_span_is_not_stored_as_quoted(quotes: list[str], data: st.DataObject) -> None:
    passage = _passage()
    sentences = [_sentence(quote) for quote in quotes]
    stored = [
        data.draw(st.sampled_from([_stored(one, passage), None, RevisionSpan("another text", 1), RevisionSpan("", 1)]))
        for one in sentences
    ]
    checked = check(sentences, [passage], stored)
    assert len(checked.passed) + len(checked.refused) == len(sentences)
    for citation in (*write(checked, [passage]).citations, *cite_nearest(checked, [passage])):
        assert citation.verified
        assert citation.snippet in quotes
    assert {one.guardrail for one in checked.refused} <= {"citation_not_stored"}


def _guardrail(sentence: DraftSentence, passage: Passage) -> str | None:
    checked = check([sentence], [passage], [_stored(sentence, passage)])
    return checked.refused[0].guardrail if checked.refused else None


def test_a_sentence_that_says_other_than_its_quote_is_refused() -> None:
    quote = "Crew transfer stops at 1.5 m."
    assert _guardrail(_sentence(quote, "Helicopters fly at any height whatsoever."), _passage()) == "low_overlap"
    assert _guardrail(_sentence(quote, "Crew transfer stops at 2.5 m."), _passage()) == "figure_not_in_source"
    assert _guardrail(_sentence(quote, "Crew transfer stops at 1.5 m\u202e."), _passage()) == "hidden_characters"


def test_a_sentence_that_says_its_quote_word_for_word_passes_unless_it_says_nothing() -> None:
    assert _guardrail(_sentence("Crew transfer stops at 1.5 m."), _passage()) is None
    dots = _passage("Preface. ... More.")
    assert _guardrail(_sentence("...", "...", dots), dots) == "low_overlap"


def test_a_month_in_bold_is_the_month_that_the_sentence_says() -> None:
    passage = _passage("- **20 February** Readings put the fault at 1.3 km.")
    assert _guardrail(_sentence(passage.chunk.text, passage=passage), passage) is None


def test_links_lead_to_cited_sources_only() -> None:
    quote = "The master decides."
    said = "The master decides. https://evil.example"
    assert _guardrail(_sentence(quote, said), _passage()) == "link_to_uncited_source"
    assert _guardrail(_sentence("See https://a.example for more."), _passage()) is None
    assert _guardrail(_sentence(quote, said), _passage(url="https://evil.example")) is None


def test_a_sentence_of_a_passage_that_was_not_retrieved_is_refused() -> None:
    passage = _passage()
    stray = DraftSentence(0, 3, 0, 8, "Preface.", UnitKind.PROSE, 1.0)
    assert check([stray], [passage], [RevisionSpan("Preface.", 1)]).refused[0].guardrail == "citation_not_retrieved"


def test_list_items_stand_on_lines_of_their_own() -> None:
    lead = DraftSentence(0, 0, 0, 1, "Bring these:", UnitKind.LEAD_IN, 1.0)
    item = DraftSentence(0, 0, 1, 2, "A jacket.", UnitKind.LIST_ITEM, 1.0)
    composed = compose([lead, item, item, lead])
    assert composed.text == "Bring these: [1]\n- A jacket. [2]\n- A jacket. [3]\nBring these: [4]"
    assert [composed.text[span.start : span.end] for span in composed.spans][1] == "A jacket. [2]"


def test_a_sentence_is_refused_when_one_of_its_quotes_is_not_stored() -> None:
    passage = _passage()
    other = _sentence("The master decides.", "Crew transfer stops at 1.5 m, and the master decides.")
    sentence = replace(_sentence("Crew transfer stops at 1.5 m.", other.text), more_quotes=(other,))
    last = _sentence("The master decides.")
    spans = [_stored(one, passage) for one in (sentence, other, last)]

    whole = check([sentence, last], [passage], spans)
    torn = check([sentence, last], [passage], [spans[0], None, spans[2]])

    assert write(whole, [passage]).text == f"{other.text} [1][2] The master decides. [3]"
    assert [one.snippet for one in write(whole, [passage]).citations] == [span.text for span in spans]
    assert [one.guardrail for one in torn.refused] == ["citation_not_stored"]
    assert write(torn, [passage]).text == "The master decides. [1]"


def test_a_sentence_says_no_more_than_all_of_its_quotes_together() -> None:
    passage = _passage()
    other = _sentence("The master decides.")
    text = "Crew transfer stops at 1.5 m, and the master decides."
    alone = _sentence("The master decides.", text)

    assert check([alone], [passage], [_stored(alone, passage)]).refused[0].guardrail == "low_overlap"
    both = replace(_sentence("Crew transfer stops at 1.5 m.", text), more_quotes=(other,))
    assert check([both], [passage], [_stored(one, passage) for one in (both, other)]).refused == ()


def test_a_model_may_neither_deny_nor_assert_what_its_quote_does_not() -> None:
    passage = _passage("The vault is not open on Sunday. The office is open on Monday. It lies by order No. 17.")
    for quote, text in (
        ("The vault is not open on Sunday.", "The vault is open on Sunday."),
        ("The office is open on Monday.", "The office is not open on Monday."),
    ):
        written = replace(_sentence(quote, text, passage), is_model_text=True)
        assert _guardrail(written, passage) == "negation_not_in_source"
    numbered = replace(_sentence("It lies by order No. 17.", "It lies by order 17.", passage), is_model_text=True)
    assert _guardrail(numbered, passage) is None


def test_a_model_may_name_only_what_its_quote_or_the_title_of_its_document_names() -> None:
    passage = _passage("In 2019 the director Bernd Holz resigned.")
    quote = "In 2019 the director Bernd Holz resigned."
    someone_else = replace(_sentence(quote, "In 2019 the director Anna Keller resigned.", passage), is_model_text=True)
    assert _guardrail(someone_else, passage) == "name_not_in_source"
    titled = replace(
        _sentence(quote, "Of the Policy director Bernd Holz resigned in 2019.", passage), is_model_text=True
    )
    assert _guardrail(titled, passage) is None


def test_a_model_reads_a_table_row_with_its_header_and_no_other_row() -> None:
    table = "Sales by year\n| Kind | 2021 | 2022 |\n|---|---|---|\n| Products | 61 | 63 |\n| Services | 40 | 38 |"
    passage = _passage(table)
    row = "| Services | 40 | 38 |"

    def said(text: str) -> DraftSentence:
        return replace(_sentence(row, text, passage), kind=UnitKind.TABLE_ROW, is_model_text=True)

    assert _guardrail(said("Services were 40 in 2021."), passage) is None
    assert _guardrail(said("Sales: services 63 in 2021."), passage) == "figure_not_in_source"


def test_a_marker_behind_code_stands_on_a_line_of_its_own() -> None:
    code = _sentence("The master decides.", "On macOS:\n\n```sh\nbrew install larder\n```")

    assert compose([code]).text == f"{code.text}\n[1]"


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("It fell in Kenya [2], in Peru [3] [4].", "It fell in Kenya (2), in Peru (3) (4)."),
        ("It was seen before ([2, 3]; [5–7]).", "It was seen before ((2, 3); (5–7))."),
        ("[1] is the file.", "(1) is the file."),
        ("It was seen [3][4].", "It was seen (3)(4)."),
        ("Write [more][1] there.", "Write [more][1] there."),
        ("The first is values[0].", "The first is values[0]."),
        ("Run:\n\n```py\nprint([1])\n```", "Run:\n\n```py\nprint([1])\n```"),
    ],
)
def test_a_number_of_the_source_in_brackets_does_not_look_like_a_marker_of_the_answer(said: str, shown: str) -> None:
    composed = compose([_sentence("The master decides.", said)] * 2)

    assert composed.text[: composed.spans[0].end - len("[1]")].rstrip() == shown
    assert [composed.text[one.start : one.end].rstrip()[-3:] for one in composed.spans] == ["[1]", "[2]"]
