"""Quotes that tell of something of another one than the question asks for."""

from __future__ import annotations

import pytest
from tests.unit.answering.test_extractive import passage

from agentic_rag.answering.evidence.other_holder import tells_of_other_holder
from agentic_rag.answering.extraction.extractive import DraftSentence
from agentic_rag.answering.extraction.text_units import UnitKind


@pytest.mark.parametrize(
    ("question", "text", "is_of_another"),
    [
        ("What is the weight of the pump?", "The weight of the compressor is 41 kg.", True),
        ("What is the weight of the pump?", "The weight of the pump is 12 kg.", False),
        ("What is the weight of the pump?", "It weighs 12 kg.", False),
        ("What is the weight of the pump?", "The pump weighs 12 kg, half the weight of the compressor.", False),
        ("What is the weight of the pumps?", "The weight of a pump is 12 kg.", False),
        ("What is the weight of the pump?", "The weight of each is 12 kg.", False),
        ("How long does the warranty of the sensor last?", "The warranty of the pump lasts 24 months.", True),
        ("What does a token for the dryer cost?", "The washing machine takes tokens at €3.", True),
        ("What does a token for the dryer cost?", "A token for the washing machine costs €3.", True),
        ("What does a token for the dryer cost?", "A token costs €3.", False),
        ("What is the rent for a stall?", "The weekly rent is €40.", False),
        ("How long does the warranty of the sensor last?", "The sensor has a warranty of 12 months.", False),
        ("What is the pump's weight?", "The weight of the compressor is 41 kg.", True),
        ("What is the pump's weight?", "The pump has a weight of 12 kg.", False),
        ("What does the smith of Gran 25 earn?", "The doctor of Gran 25 earns 151 crowns a month.", True),
        ("What does the smith of Gran 25 earn?", "The smith of Gran 25 earns 412 crowns a month.", False),
        ("How heavy is the pump?", "The weight of the compressor is 41 kg.", True),
        ("What does the pump weigh?", "The weight of the compressor is 41 kg.", True),
        ("What does the pump weigh?", "It weighs 41 kg.", False),
        ("What does the pump weigh?", "The weight is 41 kg with a pump.", False),
        ("How long is the sensor warranty?", "The warranty of the pump lasts 24 months.", True),
        ("How long is the sensor warranty?", "The warranty of the sensor lasts 24 months.", False),
        ("How long does the compressor battery hold?", "The battery of the sensor holds for 14 hours.", True),
        ("What is the meaning of ___?", "The meaning of the line is that a word is missing.", False),
        ("What is the pump?", "The compressor moves water.", False),
        ("Who is the head of the lab?", "The director of the lab is Ada Lovelace.", False),
        ("What kind of oil does the pump of the mill take?", "The mill takes oil of one kind only.", False),
        ("Was ist das Gewicht der Pumpe?", "Das Gewicht des Kompressors beträgt 41 kg.", False),
    ],
)
def test_what_is_of_another_one_is_told(question: str, text: str, is_of_another: bool) -> None:
    quote = DraftSentence(0, 0, 0, len(text), text, UnitKind.PROSE, 1.0)
    assert tells_of_other_holder(question, [quote], [passage(1, "Notes", text)]) is is_of_another


def test_a_verb_that_is_said_of_another_subject_is_not_said_of_the_one_asked_about() -> None:
    texts = ("The compressor weighs 41 kg.", "The warranty of the pump lasts 24 months.")
    quotes = [DraftSentence(at, at, 0, len(text), text, UnitKind.PROSE, 1.0) for at, text in enumerate(texts)]
    passages = [passage(at, "Notes", text) for at, text in enumerate(texts)]
    assert tells_of_other_holder("What does the pump weigh?", quotes, passages)
    assert not tells_of_other_holder("What does the pump do?", quotes, passages)


def test_two_quotes_do_not_make_one_statement_and_a_heading_tells_whose_it_is() -> None:
    question = "What is the weight of the pump?"
    texts = ("The weight of the compressor is 41 kg.", "The pump is blue.")
    quotes = [DraftSentence(at, at, 0, len(text), text, UnitKind.PROSE, 1.0) for at, text in enumerate(texts)]
    assert tells_of_other_holder(question, quotes, [passage(at, "Notes", text) for at, text in enumerate(texts)])
    assert not tells_of_other_holder(question, quotes[:1], [passage(1, "Pump", texts[0])])
    assert tells_of_other_holder(question, quotes, [passage(at, "Weights", text) for at, text in enumerate(texts)])
