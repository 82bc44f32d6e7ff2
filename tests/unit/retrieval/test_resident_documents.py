"""Documents of chunks and their titles in this process."""

import numpy as np
import pytest

from agentic_rag.adapters.postgres.retrieval.copied_rows import parse_titles
from agentic_rag.retrieval.resident_documents import ResidentDocuments

ONE, TWO = (1, 9), (2, 0)
IDS = {one: b"".join(half.to_bytes(8, "big") for half in one) for one in (ONE, TWO)}
DOCUMENTS = np.array([TWO, ONE, TWO], np.uint64)


def copied(*rows: tuple[bytes, bytes]) -> bytearray:
    """Rows as COPY sends them."""
    sent = bytearray(19)
    for identity, title in rows:
        sent += b"\0\2" + (16).to_bytes(4, "big") + identity + len(title).to_bytes(4, "big") + title
    return sent + b"\xff\xff"


def test_each_chunk_has_the_title_of_its_document() -> None:
    titles = parse_titles(copied((IDS[TWO], "Zürich".encode()), (IDS[ONE], b"")))

    held = ResidentDocuments.of(DOCUMENTS, titles)
    places, documents = held.titles_of(np.array([0, 1, 2], np.int64), are_corrected=True)

    assert [documents[place] for place in places] == [(IDS[TWO], "Zürich"), (IDS[ONE], ""), (IDS[TWO], "Zürich")]
    assert held.ids_of(np.array([1], np.int64)).tolist() == [list(ONE)]


def test_a_document_without_a_title_and_rows_of_another_form_are_refused() -> None:
    with pytest.raises(ValueError, match="no title"):
        ResidentDocuments.of(DOCUMENTS, {IDS[ONE]: b"one"})
    sent = copied((IDS[ONE], b"one"))
    for damaged in (
        sent[:-3] + sent[-2:],
        sent.replace(b"\0\2", b"\0\3", 1),
        sent.replace(b"\0\0\0\3one", b"\xff" * 4),
    ):
        with pytest.raises(ValueError, match="form"):
            parse_titles(damaged)
