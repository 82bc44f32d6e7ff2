"""Makes questions from the passages of a corpus by rule, each with and without the document that answers it.

A question consists of distinctive words of a passage. Many are replaced by words of another passage, because users do
not know the wording of the source. The share of replaced words varies, so that a set holds easy and hard questions.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agentic_rag.language.english import STOP_WORDS
from agentic_rag_eval.records import EvalQuestion

KNOWN_ITEM, REMOVED_GOLD = "known-item", "removed-gold"
"""The types of questions: with their source document, and without it."""

WORDS = (3, 8)
"""Fewest and most words of a question."""
REPLACED = (0.45, 0.85)
"""Bounds on the share of words replaced by words of another passage, drawn per question."""
EASIER = 3.0
"""Users' questions are harder than made ones: a threshold that abstains on one made question in a hundred abstains on
up to three of theirs. With this factor the thresholds of ten corpora kept their error on their users' questions
(docs/quality.md).
"""
LEAST_WORDS = 12
"""Fewest distinct distinctive words of a usable passage."""

_WORD = re.compile(r"[^\W_][\w’'.-]*[^\W_]|[^\W_]")


@dataclass(frozen=True, slots=True)
class SourcePassage:
    """A passage to make questions from."""

    document_id: str
    text: str


def own_questions(passages: Sequence[SourcePassage], wanted: int, seed: int = 1) -> list[EvalQuestion]:
    """At most `wanted` known-item questions, each from another passage, and as many asked without their document. Equal
    passages, number and seed give equal questions.
    """
    chance = random.Random(seed)
    order = list(passages)
    chance.shuffle(order)
    known: list[EvalQuestion] = []
    for place, passage in enumerate(order):
        if len(known) >= wanted:
            break
        text = _make_question(passage, order[place - 1], chance)
        if text is not None:
            name = f"{KNOWN_ITEM}-{len(known) + 1:04d}"
            known.append(EvalQuestion(name, text, (), (passage.document_id,), KNOWN_ITEM))
    return [*known, *(_remove_gold(one) for one in known)]


def _make_question(passage: SourcePassage, elsewhere: SourcePassage, chance: random.Random) -> str | None:
    telling = list(dict.fromkeys(one for one in _WORD.findall(passage.text) if one.lower() not in STOP_WORDS))
    if len(telling) < LEAST_WORDS:
        return None
    places = sorted(chance.sample(range(len(telling)), chance.randint(*WORDS)))
    other = [one for one in _WORD.findall(elsewhere.text) if one.islower() and one not in STOP_WORDS]
    replaced = chance.uniform(*REPLACED)
    words = [chance.choice(other) if other and chance.random() < replaced else telling[place] for place in places]
    return f"What is known about {' '.join(words)}?"


def _remove_gold(known: EvalQuestion) -> EvalQuestion:
    name = known.question_id.replace(KNOWN_ITEM, REMOVED_GOLD)
    return EvalQuestion(name, known.question, (), (), REMOVED_GOLD, without=known.gold_ids)


def as_lines(questions: Iterable[EvalQuestion]) -> str:
    """The questions in the form that `dataset.load_dataset` reads."""
    rows = (
        {
            "id": one.question_id,
            "question": one.question,
            "answers": list(one.answers),
            "gold_ids": list(one.gold_ids),
            "type": one.kind,
            **({"without": list(one.without)} if one.without else {}),
        }
        for one in questions
    )
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
