"""How the answer of a run stands in its row."""

from __future__ import annotations

from agentic_rag.adapters.postgres.session.connection import Row
from agentic_rag.answering.answer import Answer
from agentic_rag.answering.runs.answer_codec import decode, unpack

ANSWER_COLUMNS = "stored_answer, CASE WHEN stored_answer IS NULL THEN answer::text END AS answer"
"""What `answer_from` reads. A run of before revision 0057 has its answer as `jsonb`."""


def answer_from(row: Row) -> Answer:
    """The answer of a row with `ANSWER_COLUMNS`. Errors: `ValueError`, for one that another version of the product
    stored in a form that this one does not read, and for a damaged one.
    """
    stored: bytes | None = row["stored_answer"]
    return decode(row["answer"].encode()) if stored is None else unpack(stored)
