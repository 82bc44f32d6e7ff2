"""Signs that a text was written to steer a model rather than to inform a reader.

They are told, not acted on: a document about prompt injection shows them too. What keeps an injection harmless is that
nothing a passage says can choose a tool, an address, a tenant or a citation.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable
from functools import lru_cache

from agentic_rag.domain.hidden_characters import HIDDEN, without_hidden

MAX_EXAMINED = 200_000
"""Characters of one text that are looked at; chunks are far shorter."""

_CACHED_TEXTS = 1_024
_LONGEST_CACHED = 4_000
"""Characters. An answer looks at its passages, and again at those it cites; the same passages are found again and
again. 4 MB when full of long ones.
"""


class Suspicion(enum.Enum):
    """One sign; the value is what clients see."""

    HIDDEN_CHARACTERS = "HIDDEN_CHARACTERS"
    """Zero-width, tag, direction or control characters."""
    INSTRUCTION = "INSTRUCTION"
    """It tells its reader to ignore, forget, pretend or conceal."""
    ROLE_MARKUP = "ROLE_MARKUP"
    """It looks like a turn of a conversation, or like the fence around a passage."""
    TOOL_CALL = "TOOL_CALL"
    """It looks like the call of a tool, or asks for one."""
    EXFILTRATION = "EXFILTRATION"
    """It asks to send or reveal something."""
    REMOTE_IMAGE = "REMOTE_IMAGE"
    """An image that a viewer would fetch from elsewhere."""
    ACTIVE_MARKUP = "ACTIVE_MARKUP"
    """Scripts and addresses that run."""
    ENCODED = "ENCODED"
    """A long run of base64 or hexadecimal text."""


_SIGNS: tuple[tuple[Suspicion, re.Pattern[str]], ...] = tuple(
    (suspicion, re.compile(pattern, re.IGNORECASE | re.MULTILINE))
    for suspicion, pattern in (
        (
            Suspicion.INSTRUCTION,
            r"\b(?:ignor\w{0,6}|disregard\w{0,3}|forget|overrid\w{0,3}|bypass|vergiss|oublie\w{0,2}|olvida)\b"
            r"[^.\n]{0,60}\b(?:instructions?|prompts?|rules|guidelines|directions|safeguards|anweisungen|regeln|"
            r"consignes|instrucciones|reglas|everything (?:above|before))\b|"
            r"\b(?:you are now|you're now|from now on,? (?:you|answer|always)|pretend (?:to be|you are)|"
            r"(?:new|updated|real|actual) (?:system )?(?:instructions?|task|prompt)\s*:|developer mode|jailbreak|"
            r"(?:do not|don't|never) (?:tell|mention|reveal|inform|show)[^.\n]{0,30}\buser\b|"
            r"(?:note|message|instructions?) (?:to|for) (?:the |any )?(?:ai|llm|assistant|language model|model)\b|"
            r"(?:you|the (?:assistant|model|ai)) must (?:now )?(?:say|answer|respond|reply|cite|include|"
            r"output|always))|"
            r"\b(?:tell|urge|advise|convince) (?:all |every |the )?(?:users?|readers?|customers?)\b|\bcite passage \d|"
            r"(?:忽略|无视|忽視|無視).{0,20}(?:指令|指示|提示|规则)|(?:指示|命令).{0,6}無視",
        ),
        (
            Suspicion.ROLE_MARKUP,
            r"<\|[a-z_]{2,24}\|>|\[/?INST\]|<</?SYS>>|^\s*(?:#{1,6} ?)?(?:system|assistant|developer|human|user)"
            r"(?: message| prompt)?\s*:|<</?[A-Z]{4,}(?: \w{1,40}){0,3}>>|"
            r"</?(?:system|assistant|instructions?|prompt)>|"
            r"\bend of (?:passage|document|context|data|retrieved text)\b",
        ),
        (
            Suspicion.TOOL_CALL,
            r"[\"']?\b(?:tool_calls?|function_call|tool_name|tool_use)\b[\"']?\s*[:=({]|</?(?:tool|function)_?"
            r"(?:calls?|use|result)?\b[^>\n]{0,80}>|\b(?:call|use|invoke|run|execute)\b (?:the )?[\w`'\"]{0,24} ?"
            r"(?:tool|function|plugin)\b|\bhttp_fetch\b",
        ),
        (
            Suspicion.EXFILTRATION,
            r"\b(?:send|post|upload|forward|submit|exfiltrate|append|transmit)\b[^.\n]{0,80}\b(?:to|at)\b[^\n]{0,40}"
            r"(?:https?://|www\.|\w@\w)|\b(?:reveal|print|output|repeat|show|disclose|leak)\b[^.\n]{0,40}\b(?:system "
            r"prompt|your (?:instructions|prompt|rules)|api[ _-]?keys?|passwords?|secrets?|other (?:tenant|organi[sz]"
            r"ation|workspace|customer)\w{0,3})\b|"
            r"\b(?:search|read|open|query|list)\b[^.\n]{0,40}\b(?:other|another|foreign) (?:tenant|customer|"
            r"organi[sz]ation)",
        ),
        (Suspicion.REMOTE_IMAGE, r"!\[[^\]\n]{0,200}\]\(\s*<?(?:[a-z+]{2,10}:)?//|<img\b[^>\n]{0,300}\bsrc\b"),
        (
            Suspicion.ACTIVE_MARKUP,
            r"\b(?:javascript|vbscript):|\bdata:(?:text/html|image/svg)|<(?:script|iframe|object|embed|svg|base|meta|link|"
            r"form)\b|\bon(?:error|load|click|mouseover)\s*=",
        ),
        (Suspicion.ENCODED, r"(?<![\w+/])(?=[a-z0-9+/]{0,160}?[0-9+/])[a-z0-9+/]{160,}={0,2}"),
    )
)


def suspicions(text: str) -> tuple[Suspicion, ...]:
    """The signs that a text shows, in the order of `Suspicion`; hidden characters do not hide the others."""
    return _suspicions_cached(text) if len(text) <= _LONGEST_CACHED else _suspicions(text)


def _suspicions(text: str) -> tuple[Suspicion, ...]:
    examined = text[:MAX_EXAMINED]
    seen = without_hidden(examined)
    found = {suspicion for suspicion, pattern in _SIGNS if pattern.search(seen)}
    if HIDDEN.search(examined):
        found.add(Suspicion.HIDDEN_CHARACTERS)
    return in_order(found)


@lru_cache(_CACHED_TEXTS)
def _suspicions_cached(text: str) -> tuple[Suspicion, ...]:
    return _suspicions(text)


def in_order(found: Iterable[Suspicion]) -> tuple[Suspicion, ...]:
    """Each sign once, in the order of `Suspicion`."""
    kept = frozenset(found)
    return tuple(one for one in Suspicion if one in kept)
