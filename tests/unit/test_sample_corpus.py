"""The sample corpus is what its sources say, and the golden set asks only what the corpus can prove."""

from __future__ import annotations

import functools
import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from docx import Document
from pypdf import PdfReader
from scripts.make_sample_corpus import CORPUS, REPOSITORY, SOURCES, make_sample_corpus
from scripts.sample_corpus.blocks import Heading, MalformedSourceError, Source, read_source
from selectolax.lexbor import LexborHTMLParser

GOLDEN = REPOSITORY / "eval" / "agentic-rag" / "golden.jsonl"
KINDS = {
    "single",
    "bridge",
    "comparison",
    "figure",
    "date",
    "list",
    "yesno",
    "unanswerable",
    "calc",
}
FILES_BY_SUFFIX = {".md": 8, ".pdf": 5, ".docx": 4, ".html": 3, ".txt": 1, ".py": 1}

# Names the corpus speaks of: an unanswerable question that holds one is a near miss.
KNOWN_NAMES = (
    "Brannoch Sound",
    "Skelder Narrows",
    "Halla Brekstad",
    "Petrel Dawn",
    "BRN-04",
    "Tarn & Velde",
    "Sunniva Karrow",
    "Corrand Tidal",
)


@dataclass(frozen=True, slots=True)
class Question:
    """One line of the golden set; ``list`` wants every answer, the other kinds any one of them."""

    id: str
    question: str
    answers: tuple[str, ...]
    gold_ids: tuple[str, ...]
    type: str


def _golden() -> list[Question]:
    lines = GOLDEN.read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [
        Question(row["id"], row["question"], tuple(row["answers"]), tuple(row["gold_ids"]), row["type"])
        for row in rows
        if row.keys() == {"id", "question", "answers", "gold_ids", "type"}
    ]


def _sources() -> list[Source]:
    return [read_source(path) for path in sorted(SOURCES.glob("*.md"))]


def _sources_of(suffix: str) -> list[Source]:
    return [source for source in _sources() if source.output.endswith(suffix)]


def _headings(source: Source) -> list[str]:
    return [block.text for block in source.blocks if isinstance(block, Heading)]


def _pdf_pages(path: Path) -> list[str]:
    return [page.extract_text() for page in PdfReader(path).pages]


def _docx_lines(path: Path) -> list[tuple[str, str]]:
    """Style and text of each paragraph, then the cells of each table, in document order within each."""
    document = Document(str(path))
    paragraphs = [(str(item.style and item.style.name), item.text) for item in document.paragraphs]
    cells = [("cell", cell.text) for table in document.tables for row in table.rows for cell in row.cells]
    return paragraphs + cells


def _corpus_names() -> set[str]:
    return {path.name for path in CORPUS.iterdir() if path.suffix in FILES_BY_SUFFIX}


@functools.cache
def _text(name: str) -> str:
    path = CORPUS / name
    match path.suffix:
        case ".pdf":
            text = "\n".join(_pdf_pages(path))
        case ".docx":
            text = "\n".join(text for _, text in _docx_lines(path))
        case ".html":
            body = LexborHTMLParser(path.read_text(encoding="utf-8")).body
            assert body is not None
            text = body.text(separator=" ")
        case _:
            text = path.read_text(encoding="utf-8")
    return _one_spaced(text)


def _one_spaced(text: str) -> str:
    return re.sub(r"\s+", " ", text)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The corpus made anew."""
    folder = tmp_path_factory.mktemp("corpus")
    make_sample_corpus(folder)
    return folder


def test_the_folder_holds_corpus_files_and_nothing_else() -> None:
    found = Counter(path.suffix for path in CORPUS.iterdir() if path.name != "__pycache__")

    assert found == FILES_BY_SUFFIX
    assert not (CORPUS / "README.md").exists()


@pytest.mark.slow
def test_every_generated_file_is_committed(made: Path) -> None:
    assert {path.name for path in made.iterdir()} == {
        path.name for path in CORPUS.iterdir() if path.suffix in {".pdf", ".docx"}
    }


@pytest.mark.slow
def test_committed_pdfs_say_what_their_sources_say(made: Path) -> None:
    for source in _sources_of(".pdf"):
        assert _pdf_pages(CORPUS / source.output) == _pdf_pages(made / source.output), source.output


@pytest.mark.slow
def test_committed_word_files_say_what_their_sources_say(made: Path) -> None:
    for source in _sources_of(".docx"):
        assert _docx_lines(CORPUS / source.output) == _docx_lines(made / source.output), source.output


@pytest.mark.slow
def test_generating_twice_gives_the_same_bytes(made: Path, tmp_path: Path) -> None:
    for again in make_sample_corpus(tmp_path):
        assert again.read_bytes() == (made / again.name).read_bytes(), again.name


@pytest.mark.slow
def test_pdfs_have_several_numbered_pages() -> None:
    for source in _sources_of(".pdf"):
        pages = _pdf_pages(CORPUS / source.output)

        assert 3 <= len(pages) <= 6, source.output
        for number, text in enumerate(pages, start=1):
            assert f"Page {number}" in text, source.output


@pytest.mark.slow
def test_pdf_headings_stand_in_the_outline_and_on_a_page() -> None:
    for source in _sources_of(".pdf"):
        reader = PdfReader(CORPUS / source.output)
        outline = _flattened(reader.outline)
        text = _text(source.output)

        assert outline == _headings(source)
        assert all(heading in text for heading in outline)


@pytest.mark.slow
def test_word_headings_carry_real_heading_styles() -> None:
    for source in _sources_of(".docx"):
        lines = _docx_lines(CORPUS / source.output)

        assert lines[0] == ("Title", source.title)
        assert [text for style, text in lines if style.startswith("Heading")] == _headings(source)


@pytest.mark.slow
def test_every_document_is_long_enough_to_be_worth_asking_about() -> None:
    for name in _corpus_names():
        words = len(_text(name).split())

        assert 400 <= words <= 1600, (name, words)


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ("no header at all", "without a header"),
        ("---\noutput: a.pdf\n---\ntext", "lacks author, date, title"),
        ("---\noutput: a.pdf\ntitle: A\nauthor: B\ndate: 2025-01-01\n---\nTable: T\n| a | b |\n| 1 |", "equal length"),
        ("---\noutput: a.pdf\ntitle: A\nauthor: B\ndate: 2025-01-01\n---\n| a | b |", "caption"),
    ],
)
def test_a_malformed_source_is_refused_with_its_name(tmp_path: Path, body: str, complaint: str) -> None:
    path = tmp_path / "broken.md"
    path.write_text(body, encoding="utf-8")

    with pytest.raises(MalformedSourceError, match=f"broken.md.*{complaint}"):
        read_source(path)


def test_golden_lines_have_exactly_the_agreed_fields_and_unique_ids() -> None:
    questions = _golden()

    assert len(questions) == len(GOLDEN.read_text(encoding="utf-8").splitlines()) >= 36
    assert len({question.id for question in questions}) == len(questions)
    assert len({question.question for question in questions}) == len(questions)
    assert {question.type for question in questions} == KINDS


@pytest.mark.slow
def test_every_answer_stands_verbatim_in_a_gold_document() -> None:
    for question in _golden():
        if question.type in {"calc", "unanswerable"}:
            continue
        texts = [_text(name) for name in question.gold_ids]
        for answer in question.answers:
            assert any(answer in text for text in texts), (question.id, answer)


def test_answerable_questions_name_documents_of_the_corpus() -> None:
    for question in _golden():
        answerable = question.type not in {"calc", "unanswerable"}

        assert bool(question.gold_ids) == answerable, question.id
        assert bool(question.answers) == (question.type != "unanswerable"), question.id
        assert all((CORPUS / name).is_file() for name in question.gold_ids), question.id


def test_bridge_questions_need_two_documents() -> None:
    for question in _golden():
        if question.type == "bridge":
            assert len(question.gold_ids) >= 2, question.id


def test_half_of_the_unanswerable_questions_are_near_misses() -> None:
    unanswerable = [question.question for question in _golden() if question.type == "unanswerable"]
    near = [text for text in unanswerable if any(name in text for name in KNOWN_NAMES)]

    assert len(unanswerable) >= 10
    assert len(near) * 2 >= len(unanswerable)
    everything = " ".join(_text(name) for name in _corpus_names())
    assert all(name in everything for name in KNOWN_NAMES)


def test_every_document_is_gold_for_some_question() -> None:
    asked = {name for question in _golden() for name in question.gold_ids}

    assert asked == _corpus_names()


def test_two_documents_disagree_about_the_wave_limit_and_each_is_dated() -> None:
    policy, guide = _text("marine-access-policy.md"), _text("control-room-handover-guide.html")

    assert "12 January 2025" in policy
    assert "exceeds 1.25 m" in policy
    assert "20 June 2023" in guide
    assert "not be more than 1.5 m" in guide


def _flattened(outline: list) -> list[str]:
    titles: list[str] = []
    for item in outline:
        titles += _flattened(item) if isinstance(item, list) else [str(item.title)]
    return titles
