"""What a computing process found in chunks comes back whole."""

from __future__ import annotations

from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.ingestion.analysis.index_text import IndexRequest, index_chunks, read_index
from agentic_rag.language.tokenizer import term_counts
from agentic_rag.retrieval.graph.entities import extract_entities

WORKSPACE = UUID(int=7)
TEXTS = st.text() | st.just(
    "The Pump Manual of Acme Corp. cites ISO 9001. Acme Corp. wrote to Jane Roe; Jane Roe answered."
)


@given(st.lists(st.tuples(TEXTS, st.tuples(TEXTS), TEXTS), max_size=3))
def test_postings_and_entities_are_those_that_were_found(chunks: list[tuple[str, tuple[str, ...], str]]) -> None:
    found = read_index(index_chunks(IndexRequest(WORKSPACE, tuple(chunks))))

    assert found == [
        (term_counts(text), extract_entities(WORKSPACE, text, headings, title)) for text, headings, title in chunks
    ]
