"""Whether the passages speak at all of what a question names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from agentic_rag.answering.extraction.subquery import terms_of
from agentic_rag.answering.extraction.term_matching import lower_text, mask_of, weigh_terms
from agentic_rag.answering.plan import AnswerType
from agentic_rag.language.calendar import MONTH_NAMES
from agentic_rag.language.english import FUNCTION_WORDS
from agentic_rag.language.words.word_tables import table_of
from agentic_rag.retrieval.candidates import Passage

_NAME = re.compile(
    r"[\"“](?P<quoted>[^\"”]{3,60})[\"”]|(?<![\w.])(?P<name>(?![A-Z]-[a-z])[A-ZÀ-Þ][\w’'&-]*"
    r"(?:,? (?:(?:of|the|de|van|von|del|la|du|le) ){0,2}[A-ZÀ-Þ][\w’'&-]*)*)"
)
"""A quoted title, or words with capitals in a row."""
_OPENS = re.compile(r"(?:^|[.?!:])\s*$")
_NOT_NAMES = (
    FUNCTION_WORDS
    | frozenset(MONTH_NAMES)
    | frozenset({"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"})
    | frozenset({"mondays", "tuesdays", "wednesdays", "thursdays", "fridays", "saturdays", "sundays"})
    | frozenset({"besides", "according", "i'm", "i've", "don't"})
)
_OF_A_THING = re.compile(
    r"\b(?:for|of|with|on|in) (?:an?|one|my|our|your|the) "
    r"(?P<thing>(?!(?:second|minute|hour|day|night|week|month|quarter|year|season)s?\b)[a-z]{3,})"
    r"(?= (?:in|on|at|to|from|by|with|do|does|did|is|was|are|were|has|have|had|must|may|can|could|will|would|that|"
    r"which|who|should|costs?|weighs?|lasts?|takes?|holds?)\b|\W*$)"
)
"""A noun alone behind a preposition, but no time: of several the last may be a verb, "the tyres of a trailer need"."""
_POSSESSIVE = re.compile(r"[’']s\b")
_SIGNS = re.compile(r"[^\w]+")
_JOINTS = frozenset({"of", "the", "de", "van", "von", "del", "la", "du", "le"})
_SHORTEST = 3
_SHORTEST_STEM = 4
_ENDINGS = "ish|ians?|ans?|ese|ic"
_OF_COUNTRY = re.compile(rf"(?P<stem>[a-z]{{{_SHORTEST_STEM},}}?)(?:{_ENDINGS})")


def lacks_name(question: str, passages: Sequence[Passage]) -> bool:
    """True where a name in an English question stands in none of the passages: not even all its words, of three or more
    all but one, in one of them. Languages whose nouns have capitals tell no names apart.
    """
    missing = _names(question)
    for passage in passages:
        if not missing:
            break
        chunk = passage.chunk
        text = _plain(" ".join((chunk.document_title, *chunk.heading_path, chunk.text)))
        missing = [name for name in missing if not _holds(text, name)]
    return bool(missing)


def lacks_word_of_name(question: str, text: str) -> bool:
    """True where no word of some name in an English question stands in a text, or begins one: macOS has that of Mac."""
    plain = _plain(text)
    return any(
        not any(f" {word}" in plain or _holds_form(plain, word) for word in name if len(word) >= _SHORTEST)
        for name in _names(question)
    )


def stands_in(text: str, name: str) -> bool:
    """True for a text with a name, or with all its words, of three or more all but one."""
    return _holds(_plain(text), tuple(_plain(name).split()))


def _names(question: str) -> list[tuple[str, ...]]:
    """The words of each name in an English question, folded; of a single word only where it is no abbreviation and does
    not open a sentence.
    """
    if table_of(question) is not None:
        return []
    found: list[tuple[str, ...]] = []
    for match in _NAME.finditer(question):
        words = (match["quoted"] or match["name"]).split()
        if match["name"]:
            opens = _OPENS.search(question[: match.start()]) is not None
            if len(words) == 1 and (opens or words[0].isupper()):
                continue
            if opens and len(words) > 1 and words[1] in _JOINTS:
                words = words[2:]
            while words and (words[0].lower() in _NOT_NAMES or words[0] in _JOINTS):
                words = words[1:]
        folded = tuple(_plain(" ".join(words)).split())
        if len("".join(folded)) >= _SHORTEST:
            found.append(folded)
    return found


def _holds(text: str, name: tuple[str, ...]) -> bool:
    whole = " ".join(name)
    if f" {whole} " in text or f" {whole}s " in text:
        return True
    if len(name) == 1:
        return _holds_form(text, whole)
    words = [word for word in name if word not in _JOINTS]
    held = sum(f" {word} " in text for word in words)
    return len(words) > 1 and held >= len(words) - (len(words) > 2)


def _holds_form(text: str, word: str) -> bool:
    """True for a text with a word that differs in an ending alone, where either has that of what is of a country or of
    those who live there: British and Britain, Italy and Italian.
    """
    own = _OF_COUNTRY.fullmatch(word)
    if own is not None and re.search(rf" {own['stem']}\w{{0,4}} ", text):
        return True
    stem = word[: max(_SHORTEST_STEM, len(word) - 3)]
    return (
        len(stem) >= _SHORTEST_STEM and re.search(rf" {re.escape(stem)}\w{{0,3}}?(?:{_ENDINGS})s? ", text) is not None
    )


def _plain(text: str) -> str:
    """Lower case without accents, signs and the possessive, a space at both ends."""
    bare = text if text.isascii() else unicodedata.normalize("NFKD", text)
    if not bare.isascii():
        for accent in filter(unicodedata.combining, set(bare)):
            bare = bare.replace(accent, "")
    words = _SIGNS.sub(" ", _POSSESSIVE.sub("", bare.lower())).strip()
    return f" {words} "


def text_with_titles(passages: Sequence[Passage]) -> str:
    """The passages, each with the titles above it."""
    chunks = (one.chunk for one in passages)
    return "\n".join("\n".join((one.document_title, *one.heading_path, one.text)) for one in chunks)


def lacks_thing(question: str, kind: AnswerType, passages: Sequence[Passage]) -> bool:
    """True where an English question for a figure asks it of, for, with, on or in a thing that no passage names, nor
    what stands above it: what a microchip costs for a ferret.
    """
    if table_of(question) is not None or kind is not AnswerType.FIGURE:
        return False
    things = [one["thing"] for one in _OF_A_THING.finditer(question) if one["thing"].lower() not in FUNCTION_WORDS]
    terms = weigh_terms((term for thing in things for term in terms_of(thing)), {})
    if not terms:
        return False
    return mask_of(lower_text(text_with_titles(passages)), terms) != (1 << len(terms)) - 1
