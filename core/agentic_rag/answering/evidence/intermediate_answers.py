"""What the answer to one part of a question names, to complete the parts that wait for it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from uuid import UUID

from agentic_rag.answering.extraction.contradiction import MONTHS
from agentic_rag.language.tokenizer import tokenize
from agentic_rag.retrieval.graph.entities import extract_entities

MAX_INTERMEDIATE_ANSWERS = 2
_NAMES = frozenset({"name", "identifier", "code", "title"})
_CLOSE = 3
"""Words between what was asked for and a name that says which one is meant."""
_ASKED_FOR = re.compile(
    r"^(?:who|which|what)\b\s*(?P<thing>(?:[\w-]+ ){0,4}?[\w-]+)(?= (?:that|which|who|where|whose|is|was)\b)"
)


def find_intermediate_answers(workspace_id: UUID, question: str, sentences: Sequence[str]) -> tuple[str, ...]:
    """At most two names in the sentences that the question does not name, in reading order: those beside the word asked
    for, else any.
    """
    asked = frozenset(tokenize(question))
    thing = _ASKED_FOR.match(question.lower())
    noun = tokenize(thing["thing"])[-1] if thing is not None else ""
    ranked: list[tuple[int, int, int, str]] = []
    for place, sentence in enumerate(sentences):
        for entity in extract_entities(workspace_id, sentence, (), None).entities:
            words = tokenize(entity.name)
            if entity.kind not in _NAMES or asked.issuperset(words) or MONTHS.intersection(words):
                continue
            at = sentence.find(entity.name)
            if _opens(sentence, at, entity.name):
                continue
            ranked.append((0 if _beside(sentence, at, entity.name, noun) else 1, place, at, entity.name))
    ranked.sort()
    nearest = ranked[0][0] if ranked else 0
    return tuple(dict.fromkeys(name for rank, *_, name in ranked if rank == nearest))[:MAX_INTERMEDIATE_ANSWERS]


def _opens(sentence: str, at: int, name: str) -> bool:
    """True for a single word that has its capital from where it stands: at the start of a sentence, cell or label."""
    before = sentence[:at].rstrip()
    single = " " not in name and not any(sign.isdigit() for sign in name)
    return single and (not before or before[-1] in '.:;—–-(["“')


def _beside(sentence: str, at: int, name: str, noun: str) -> bool:
    before = tokenize(sentence[:at])[-_CLOSE:]
    after = tokenize(sentence[at + len(name) :])[:_CLOSE]
    return bool(noun) and (noun in before or noun in after)
