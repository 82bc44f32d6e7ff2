"""Detects signs that a text was written to steer a model rather than to inform a reader.

Signs are reported, not acted on: a document about prompt injection shows them too. An injection stays harmless because
no passage can choose a tool, an address, a tenant or a citation.
"""

from __future__ import annotations

import enum
import re
from base64 import b64decode
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from agentic_rag.language.hidden_characters import strip_hidden_characters

MAX_SCAN_CHARACTERS = 200_000
"""Only this many leading characters of a text are scanned; chunks are far shorter."""

_CACHED_TEXTS = 1_024
_LONGEST_CACHED = 4_000
"""Characters. An answer scans its passages and, again, those it cites, and the same passages recur between questions. 4
MB when full of texts of this length.
"""


class Suspicion(enum.Enum):
    """One sign of injection. Clients see the value."""

    HIDDEN_CHARACTERS = "HIDDEN_CHARACTERS"
    """Zero-width, tag, direction or control characters."""
    INSTRUCTION = "INSTRUCTION"
    """Tells the reader to ignore, forget, pretend or conceal."""
    ROLE_MARKUP = "ROLE_MARKUP"
    """Looks like a turn of a conversation, or like the fence around a passage."""
    TOOL_CALL = "TOOL_CALL"
    """Looks like a tool call, or asks for one."""
    EXFILTRATION = "EXFILTRATION"
    """Asks to send or reveal something."""
    REMOTE_IMAGE = "REMOTE_IMAGE"
    """An image that a viewer would fetch from another host."""
    ACTIVE_MARKUP = "ACTIVE_MARKUP"
    """Scripts, and URLs that execute."""
    ENCODED = "ENCODED"
    """A long run of text in base64 or hexadecimal."""


@dataclass(frozen=True, slots=True)
class InjectionPattern:
    """One regular expression for a sign, with a cheap prefilter. A text can only match if it contains at least one word
    of each group; testing for the words takes a fiftieth of the time of the pattern.
    """

    suspicion: Suspicion
    words: tuple[tuple[str, ...], ...]
    """Groups of lower-case words; first the group that few texts have a word of, or that is tested fastest."""
    pattern: re.Pattern[str]

    def matches(self, seen: str, folded: str) -> bool:
        """Whether `seen` matches; `folded` is its `fold_case`."""
        for group in self.words:
            for word in group:
                if word in folded:
                    break
            else:
                return False
        return self.pattern.search(seen) is not None


INJECTION_PATTERNS: tuple[InjectionPattern, ...] = tuple(
    InjectionPattern(sign, words, re.compile(pattern, re.IGNORECASE | re.MULTILINE))
    for sign, words, pattern in (
        (
            Suspicion.INSTRUCTION,
            (
                ("ignor", "disregard", "forget", "overrid", "bypass", "vergiss", "oublie", "olvida"),
                (
                    "instruction", "prompt", "rules", "guidelines", "directions", "safeguards", "anweisungen", "regeln",
                    "consignes", "instrucciones", "reglas", "everything ",
                ),
            ),
            r"\b(?:ignor\w{0,6}|disregard\w{0,3}|forget|overrid\w{0,3}|bypass|vergiss|oublie\w{0,2}|olvida)\b"
            r"[^.\n]{0,60}\b(?:instructions?|prompts?|rules|guidelines|directions|safeguards|anweisungen|regeln|"
            r"consignes|instrucciones|reglas|everything (?:above|before))\b",
        ),
        (
            Suspicion.INSTRUCTION,
            (
                (
                    "you are now", "you're now", "from now on", "pretend to be", "pretend you are", "developer mode",
                    "jailbreak",
                ),
            ),
            r"\b(?:you are now|you're now|from now on,? (?:you|answer|always)|pretend (?:to be|you are)|developer mode|"
            r"jailbreak)",
        ),
        (
            Suspicion.INSTRUCTION,
            ((":",), ("new ", "updated ", "real ", "actual "), ("instruction", "task", "prompt")),
            r"\b(?:new|updated|real|actual) (?:system )?(?:instructions?|task|prompt)\s*:",
        ),
        (
            Suspicion.INSTRUCTION,
            (("user",), ("do not ", "don't ", "never "), ("tell", "mention", "reveal", "inform", "show")),
            r"\b(?:do not|don't|never) (?:tell|mention|reveal|inform|show)[^.\n]{0,30}\buser\b",
        ),
        (
            Suspicion.INSTRUCTION,
            (("note ", "message ", "instruction"), (" ai", " llm", " assistant", " language model", " model")),
            r"\b(?:note|message|instructions?) (?:to|for) (?:the |any )?(?:ai|llm|assistant|language model|model)\b",
        ),
        (
            Suspicion.INSTRUCTION,
            ((" must ",), ("you must", "assistant must", "model must", "ai must")),
            r"\b(?:you|the (?:assistant|model|ai)) must (?:now )?(?:say|answer|respond|reply|cite|include|"
            r"output|always)",
        ),
        (
            Suspicion.INSTRUCTION,
            (("user", "reader", "customer"), ("tell ", "urge ", "advise ", "convince ")),
            r"\b(?:tell|urge|advise|convince) (?:all |every |the )?(?:users?|readers?|customers?)\b",
        ),
        (Suspicion.INSTRUCTION, (("cite passage ",),), r"\bcite passage \d"),
        (
            Suspicion.INSTRUCTION,
            (("忽略", "无视", "忽視", "無視"), ("指令", "指示", "提示", "规则", "命令")),
            r"(?:忽略|无视|忽視|無視).{0,20}(?:指令|指示|提示|规则)|(?:指示|命令).{0,6}無視",
        ),
        (
            Suspicion.ROLE_MARKUP,
            (("<|", "[inst]", "[/inst]", "<<"),),
            r"<\|[a-z_]{2,24}\|>|\[/?INST\]|<</?SYS>>|<</?[A-Z]{4,}(?: \w{1,40}){0,3}>>",
        ),
        (
            Suspicion.ROLE_MARKUP,
            ((":",), ("system", "assistant", "developer", "human", "user")),
            r"^\s*(?:#{1,6} ?)?(?:system|assistant|developer|human|user)(?: message| prompt)?\s*:",
        ),
        (
            Suspicion.ROLE_MARKUP,
            (("<",), ("system>", "assistant>", "instruction>", "instructions>", "prompt>")),
            r"</?(?:system|assistant|instructions?|prompt)>",
        ),
        (
            Suspicion.ROLE_MARKUP,
            (("end of ",),),
            r"\bend of (?:passage|document|context|data|retrieved text)\b",
        ),
        (
            Suspicion.TOOL_CALL,
            (("_",), ("tool_call", "function_call", "tool_name", "tool_use")),
            r"[\"']?\b(?:tool_calls?|function_call|tool_name|tool_use)\b[\"']?\s*[:=({]",
        ),
        (
            Suspicion.TOOL_CALL,
            (("<",), ("<tool", "</tool", "<function", "</function")),
            r"</?(?:tool|function)_?(?:calls?|use|result)?\b[^>\n]{0,80}>",
        ),
        (
            Suspicion.TOOL_CALL,
            (("tool", "function", "plugin"), ("call ", "use ", "invoke ", "run ", "execute ")),
            r"\b(?:call|use|invoke|run|execute)\b (?:the )?[\w`'\"]{0,24} ?(?:tool|function|plugin)\b",
        ),
        (Suspicion.TOOL_CALL, (("http_fetch",),), r"\bhttp_fetch\b"),
        (
            Suspicion.EXFILTRATION,
            (
                ("http://", "https://", "www.", "@"),
                ("send", "post", "upload", "forward", "submit", "exfiltrate", "append", "transmit"),
            ),
            r"\b(?:send|post|upload|forward|submit|exfiltrate|append|transmit)\b[^.\n]{0,80}\b(?:to|at)\b[^\n]{0,40}"
            r"(?:https?://|www\.|\w@\w)",
        ),
        (
            Suspicion.EXFILTRATION,
            (
                ("reveal", "print", "output", "repeat", "show", "disclose", "leak"),
                (
                    "system prompt", "your instructions", "your prompt", "your rules", "api key", "api_key", "api-key",
                    "apikey", "password", "secret", "other tenant", "other organi", "other workspace", "other customer",
                ),
            ),
            r"\b(?:reveal|print|output|repeat|show|disclose|leak)\b[^.\n]{0,40}\b(?:system "
            r"prompt|your (?:instructions|prompt|rules)|api[ _-]?keys?|passwords?|secrets?|other (?:tenant|organi[sz]"
            r"ation|workspace|customer)\w{0,3})\b",
        ),
        (
            Suspicion.EXFILTRATION,
            (
                ("other ", "foreign "),
                ("tenant", "customer", "organi"),
                ("search", "read", "open", "query", "list"),
            ),
            r"\b(?:search|read|open|query|list)\b[^.\n]{0,40}\b(?:other|another|foreign) (?:tenant|customer|"
            r"organi[sz]ation)",
        ),
        (Suspicion.REMOTE_IMAGE, (("![",), ("//",)), r"!\[[^\]\n]{0,200}\]\(\s*<?(?:[a-z+]{2,10}:)?//"),
        (Suspicion.REMOTE_IMAGE, (("<img",), ("src",)), r"<img\b[^>\n]{0,300}\bsrc\b"),
        (
            Suspicion.ACTIVE_MARKUP,
            ((":",), ("javascript:", "vbscript:", "data:text/html", "data:image/svg")),
            r"\b(?:javascript|vbscript):|\bdata:(?:text/html|image/svg)",
        ),
        (
            Suspicion.ACTIVE_MARKUP,
            (("<",), ("<script", "<iframe", "<object", "<embed", "<svg", "<base", "<meta", "<link", "<form")),
            r"<(?:script|iframe|object|embed|svg|base|meta|link|form)\b",
        ),
        (
            Suspicion.ACTIVE_MARKUP,
            (("=",), ("onerror", "onload", "onclick", "onmouseover")),
            r"\bon(?:error|load|click|mouseover)\s*=",
        ),
    )
)  # fmt: skip

_LEAST_ENCODED = 160
_MOST_RUNS = 32
_HEXADECIMAL = re.compile(r"[0-9a-f]+", re.IGNORECASE)
_ENCODED = re.compile(r"(?<![\w+/])(?=[a-z0-9+/]{0,160}?[0-9+/])[a-z0-9+/]{160,}={0,2}", re.IGNORECASE)

_AS_PATTERNS_FOLD = (("İ", "i"), ("ı", "i"), ("ſ", "s"))
"""Letters that a case-insensitive pattern equates with an ASCII letter but `str.lower` does not."""


def fold_case(text: str) -> str:
    """A text folded to lower case, for comparison with the word groups of the patterns."""
    for letter, folded in _AS_PATTERNS_FOLD:
        if letter in text:
            text = text.replace(letter, folded)
    return text.lower()


def find_suspicions(text: str) -> tuple[Suspicion, ...]:
    """The signs found in a text, in the order of `Suspicion`. Hidden characters do not mask other signs."""
    return _find_suspicions_with_cache(text) if len(text) <= _LONGEST_CACHED else _find_suspicions(text)


def _find_suspicions(text: str) -> tuple[Suspicion, ...]:
    examined = text[:MAX_SCAN_CHARACTERS]
    seen = strip_hidden_characters(examined)
    folded = fold_case(seen)
    found = [clause.suspicion for clause in INJECTION_PATTERNS if clause.matches(seen, folded)]
    if len(seen) != len(examined):
        found.append(Suspicion.HIDDEN_CHARACTERS)
    if max(map(len, seen.split()), default=0) >= _LEAST_ENCODED and any(
        _hides_text(run[0]) for run in islice(_ENCODED.finditer(seen), _MOST_RUNS)
    ):
        found.append(Suspicion.ENCODED)
    return sort_suspicions(found) if found else ()


def _hides_text(run: str) -> bool:
    """Whether a run is text in base64 or hexadecimal, wherever its first group begins; keys and digests are not."""
    begins = [run[start : start + _LEAST_ENCODED - 4] for start in range(4)]
    readings = [b64decode(one, validate=True) for one in begins]
    readings += [bytes.fromhex(one) for one in begins if _HEXADECIMAL.fullmatch(one)]
    return any(_is_text(one.decode("utf-8", "replace")) for one in readings)


def _is_text(decoded: str) -> bool:
    readable = sum(one.isprintable() or one.isspace() for one in decoded) - decoded.count("\ufffd")
    return readable >= 0.9 * len(decoded)


@lru_cache(_CACHED_TEXTS)
def _find_suspicions_with_cache(text: str) -> tuple[Suspicion, ...]:
    return _find_suspicions(text)


def sort_suspicions(found: Iterable[Suspicion]) -> tuple[Suspicion, ...]:
    """Each sign once, in the order of `Suspicion`."""
    kept = frozenset(found)
    return tuple(one for one in Suspicion if one in kept)
