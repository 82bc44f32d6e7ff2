"""Questions about a document as a whole, which name none."""

import pytest
from tests.provider_stub import ProviderStub
from tests.unit.answering.answering_world import World
from tests.unit.answering.corpus import WORKSPACE, Corpus
from tests.unit.answering.test_answers_by_model import Desk, answering

from agentic_rag.answering.answer import Answer, Outcome
from agentic_rag.answering.question import AnswerOptions, CacheMode
from agentic_rag.answering.tools.lookup import WHOLE_DOCUMENT, Lookup
from agentic_rag.documents.document import DocumentFilter, document_id_for

ABOUT = "What is this document about?"
INTRODUCTION = "The tidal array at Otter Voe supplies the island with power since 2024."


@pytest.mark.parametrize(
    "question",
    [
        ABOUT,
        "what's this pdf about",
        "What does the file cover?",
        "What is in this document?",
        "Please summarise this report for me.",
        "Give me a short summary of the document",
        "overview of this paper",
        "Worum geht es in diesem Dokument?",
        "¿De qué trata este documento?",
        "De quoi parle ce document ?",
    ],
)
def test_a_question_about_a_document_that_names_none_looks_for_the_only_one(question: str) -> None:
    assert Lookup().wanted(question) == (WHOLE_DOCUMENT,)


@pytest.mark.parametrize(
    "question",
    [
        "What is this document about the Otter Voe array?",
        "What does the report say about outages?",
        "Summarise the rules on gifts.",
        "What is the meeting on Friday about?",
        "Who signed this document?",
    ],
)
def test_a_question_for_a_part_of_it_is_searched_for(question: str) -> None:
    assert Lookup().wanted(question) == ()


def _array(*further: str, whole: bool = False) -> Corpus:
    corpus = Corpus()
    corpus.add(
        "array.md",
        "The Otter Voe array",
        "# The Otter Voe array\n\nDate: 4 May 2026\n\nDear reader,",
        f"{INTRODUCTION} Twelve turbines stand on the sea bed between the island and the skerry.",
        *further,
        whole=whole,
    )
    return corpus


async def _ask(corpus: Corpus, question: str = ABOUT, only: DocumentFilter | None = None) -> Answer:
    options = AnswerOptions(cache=CacheMode.BYPASS, filter=only or DocumentFilter())
    return (await World(corpus).ask(question, options=options)).answer


async def test_the_only_document_is_introduced_by_its_first_sentences_which_need_not_sum_it_up() -> None:
    answer = await _ask(_array())

    assert answer.text.startswith(f"{INTRODUCTION} [1]")
    assert "Twelve turbines" in answer.text
    assert "Dear reader" not in answer.text
    assert answer.outcome is Outcome.UNCERTAIN
    assert {(one.source_path, one.origin) for one in answer.citations} == {("array.md", "lookup")}


async def test_a_section_that_sums_the_document_up_is_the_answer() -> None:
    answer = await _ask(
        _array("## Summary\n\nThe array earned its cost in two years and is to be doubled.", whole=True)
    )

    assert answer.text == "The array earned its cost in two years and is to be doubled. [1]"
    assert answer.outcome is Outcome.GROUNDED


def _two() -> Corpus:
    corpus = _array()
    corpus.add("fees.md", "Harbour fees", "Every vessel that moors at the north quay pays a fee by the day.")
    return corpus


async def test_with_several_documents_none_is_meant() -> None:
    answer = await _ask(_two())

    assert [(one.tool, one.error_code) for one in answer.debug.tool_calls] == [("lookup", "NOT_FOUND")]
    assert answer.outcome is not Outcome.GROUNDED


async def test_the_only_one_that_the_filter_lets_through_is_meant() -> None:
    for only in (
        DocumentFilter(document_ids=(document_id_for(WORKSPACE, "fees.md"),)),
        DocumentFilter(source_path_prefix="fees"),
    ):
        answer = await _ask(_two(), only=only)

        assert answer.text == "Every vessel that moors at the north quay pays a fee by the day. [1]"


async def test_a_document_that_the_filter_keeps_out_is_not_looked_up_by_its_name() -> None:
    narrowed = DocumentFilter(document_ids=(document_id_for(WORKSPACE, "array.md"),))

    answer = await _ask(_two(), "Show document Harbour fees", narrowed)

    assert {one.source_path for one in answer.citations} <= {"array.md"}


async def test_a_model_sums_up_what_the_document_opens_with() -> None:
    with ProviderStub() as stub:
        desk = Desk(stub)
        desk.world.corpus.chunks.clear()
        desk.world.corpus.add("array.md", "The Otter Voe array", INTRODUCTION)
        desk.script["answer"] = answering("The tidal array supplies the island with power.", INTRODUCTION)

        answer = (await desk.ask(ABOUT)).answer
        await desk.aclose()

    assert answer.text == "The tidal array supplies the island with power. [1]"
