"""multilingual-e5-small by onnxruntime, as `rag model get e5-multilingual` obtains it."""

from __future__ import annotations

import pytest
from tests.local_model import local_model

from agentic_rag.adapters.onnx.embedder import OnnxEmbedder

pytestmark = [pytest.mark.integration, pytest.mark.network]

PASSAGES = (
    "Refunds are paid within fourteen days after the goods came back.",
    "The canteen is open from eleven to two.",
    "A new badge is handed out at the reception desk.",
)
QUESTIONS = {
    "Wann bekomme ich mein Geld zurück?": 0,
    "¿A qué hora se puede comer?": 1,
    "新しい入館証はどこでもらえますか。": 2,
    "Когда вернут деньги?": 0,
    "متى يفتح المطعم؟": 1,
}


async def test_questions_find_passages_of_another_language() -> None:
    embedder = OnnxEmbedder(local_model("e5-multilingual"))
    space = embedder.space

    passages = await embedder.embed([space.as_passage(one) for one in PASSAGES])
    questions = await embedder.embed([space.as_question(one) for one in QUESTIONS])

    assert (questions @ passages.T).argmax(axis=1).tolist() == list(QUESTIONS.values())
