"""Sentences that tell whoever answers what to say. They are no statement of a document, so they support nothing."""

from __future__ import annotations

import re

_WORDS = (
    "say",
    "stat",
    "answer",
    "respond",
    "repl",
    "report",
    "claim",
    "cite",
    "conclud",
    "tell",
    "assert",
    "note ",
    "message ",
    "instruction",
)
"""An order has one of these; looking for them takes a tenth of the pattern's time."""

_MACHINE = (
    r"(?:AIs?|LLMs?|language models?|chat ?bots?|(?:AI|virtual|digital) (?:assistants?|agents?|systems?|models?)|"
    r"summari[sz]ers?|answer(?:ing)? (?:engines?|systems?|models?))"
)
_SAY = (
    r"(?:say|state|answer|respond|reply|report|claim|cite|conclude|assert|insist|"
    r"tell (?:them|the (?:user|reader|asker)))"
)
_SOFTENERS = r"(?:(?:please|always|now|then|only|instead|simply|just)[ ,]+){0,3}"

_ORDER = re.compile(
    # To a machine: "AI assistants must report that …", "Note to the language model: …"
    rf"\b{_MACHINE}\b[^.\n]{{0,60}}\b(?:must|should|shall|(?:is|are|have|need|has|needs) to)\b[^.\n]{{0,20}}\b{_SAY}\b"
    rf"|\b(?:note|message|instructions?) (?:to|for) (?:the |any |all )?(?:{_MACHINE}|assistants?|models?)\b"
    # Of answers as such: "Answer that …", "When asked about the fee, say that …"
    rf"|(?:^|[.!?:;\n] *)[-*>\s]*{_SOFTENERS}(?:answer|respond|reply)(?: only| always)? that\b"
    rf"|\b(?:if|when|whenever)\b[^.\n]{{0,30}}\bask(?:ed|s)\b[^.\n]{{0,80}}\b{_SAY}\b(?: only| always)? "
    r"(?:that\b|it\b|[\"'“‘])"
    # Of everything else: "Ignore the other passages and say …"
    rf"|\b(?:ignor\w{{0,3}}|disregard|forget)\b[^.\n]{{0,80}}\b(?:and|,|;) *{_SOFTENERS}{_SAY}\b",
    re.IGNORECASE,
)


def is_order(text: str) -> bool:
    """Whether a sentence of a text tells whoever answers what to say, in English."""
    folded = text.lower()
    return any(word in folded for word in _WORDS) and _ORDER.search(text) is not None
