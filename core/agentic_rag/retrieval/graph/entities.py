"""Entities by rule: names, identifiers, titles and headings, without a model or a dictionary.

A chunk's entities are what it can be linked by. Recall counts more than precision here: an entity that stands in many
passages links nothing anyway (`bridge`), and one that stands in a single passage leads nowhere.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, combinations
from uuid import UUID

from agentic_rag.kernel.ids import derive_uuid
from agentic_rag.language.english import FUNCTION_WORDS
from agentic_rag.retrieval.candidates import ChunkEntities, ExtractedEntity

ENTITY_CAP = 24
PAIR_CAP = 12
"""Per chunk; the graph's size and the publish's cost follow from them. 12 lost 1 to 2 points of R@5 where
answers lie two passages apart."""

_LONGEST_NAME = 80
_CACHED_NAMES = 16_384
"""4 MB each when full."""
_CACHED_MENTIONS = 16_384
"""6 MB when full of single names, 18 MB of spans of three."""
_CACHED_ENTITIES = 16_384
"""8 MB when full."""
_LONGEST_TITLE = 200
"""A longer one names nothing, and taking it apart would cost more than linear time."""

_LONGEST_QUESTION = 4000
_MOST_CANDIDATES = 400
"""Of a question: 100 words give that many n-grams."""

_STRENGTHS = {"title": 6, "identifier": 5, "code": 4, "name": 3, "heading": 2, "part": 1}
"""What is kept first when a chunk names more than the cap."""

_CALENDAR = """january february march april may june july august september october november december monday tuesday
wednesday thursday friday saturday sunday"""
_NO_NAMES = FUNCTION_WORDS | frozenset(_CALENDAR.split())

_UPPER = "A-ZÀ-ÖØ-ÞΑ-ΩА-ЯЁ"
_CAPITALISED = rf"[{_UPPER}][\w'’&]*+(?:-\w++)*+"
_LINK = r" (?:(?:of|the|de|du|la|le|van|von|der|den|da|di|del|and|for|in) ){0,2}"
_IDENTIFIER = re.compile(r"[A-Z]{1,6}-?\d{1,8}(?:-?[A-Z0-9]{1,6}){0,3}")
_URL = r"https?://\S++"
_CODE = r"[A-Za-z_]\w*+(?:(?:::|\.|/)[A-Za-z_]\w*+){1,12}|[A-Za-z]\w*_\w++|[a-z]+[A-Z]\w++|[A-Z][a-z]+[A-Z]\w++"
_NO_CAPITAL = rf"[^\W{_UPPER}]"
# What names nothing, most of a text, is passed by in one step: plain words; what is no letter (one code point among the
# capitals is unassigned, and no letter to `re`); digits; and words that begin small and are neither address nor code,
# up to their first capital. The last match holds the text's end and no group.
_CANDIDATE = re.compile(
    rf"(?: *+[a-z]++(?!\w|[./][A-Za-z_]|:[:/])|[^\w{_UPPER}]++|\d++|(?!\b(?:{_URL}|{_CODE})){_NO_CAPITAL}++)*+(?:"
    r"\b(?![A-Z][a-z]++(?![\w:./]))(?:"
    rf"(?P<url>{_URL})"
    rf"|(?P<identifier>{_IDENTIFIER.pattern}\b)"
    rf"|(?P<code>{_CODE})"
    r")"
    rf"|(?P<name>{_CAPITALISED}(?:{_LINK}{_CAPITALISED}|(?<=\b[A-Z])\. {_CAPITALISED}){{0,7}}+)"
    r"|\Z)"
)
_CONNECTOR = re.compile(r" (?:and|of|for|in|the|de|du|la|le|van|von|der|den|da|di|del) (?:the )?")
# Begins with the characters that can end a sentence: `re` looks for those without trying the rest.
_SENTENCE_END = re.compile(
    r"[.!?。！？\n](?:(?<=[.!?。！？])['\"”’)\]]*\s+|(?<=\n)(?:\n*(?=[^\S\n]*+(?:[-*#|>\d]|\n|$))|\n+)|(?<=[。！？]))"
)
_POSSESSIVE = re.compile(r"['’]s\b")
_NOT_KEY = re.compile(r"[\W_]+")
_LETTER_DIGIT = re.compile(r"(?<=[^\W\d])(?=\d)|(?<=\d)(?=[^\W\d])")
_BRACKET = re.compile(r"\s*[(\[][^)\]]*[)\]]\s*")


@lru_cache(_CACHED_NAMES)
def entity_key(name: str) -> str:
    """The normalised name: NFKC, case folded, no possessive, punctuation as single spaces, letters and digits apart.

    "TG-04", "TG 04" and "tg04" are one entity, as are "max_retries" and "max retries". Empty when nothing is left.
    """
    folded = _POSSESSIVE.sub("", unicodedata.normalize("NFKC", name).casefold())
    spaced = _NOT_KEY.sub(" ", folded).strip()
    return _LETTER_DIGIT.sub(" ", spaced) if any(letter.isdigit() for letter in spaced) else spaced


def entity_id_for(workspace_id: UUID, key: str) -> UUID:
    """The id of an entity in a workspace: known from its key alone, so that a question needs no dictionary."""
    return _entity_id(workspace_id.int, key)


@lru_cache(_CACHED_NAMES)
def _entity_id(workspace: int, key: str) -> UUID:
    # By the number: a UUID's own hash is no C code.
    return derive_uuid(b"entity", workspace.to_bytes(16, "big"), key.encode("utf-8", "surrogatepass"))


@lru_cache(_CACHED_ENTITIES)
def _make_entity(workspace: int, key: str, name: str, kind: str, count: int) -> ExtractedEntity:
    return ExtractedEntity(_entity_id(workspace, key), key, name, kind, count)


@dataclass(frozen=True, slots=True)
class _EntityName:
    """What a piece of text names."""

    name: str
    key: str
    kind: str
    strength: int


class _EntityTally:
    """An entity while a chunk is read: its first spelling and strongest kind."""

    __slots__ = ("count", "first", "kind", "name", "sentences", "strength")

    def __init__(self, mention: _EntityName, first: int, sentences: list[int]) -> None:
        self.name = mention.name
        self.kind = mention.kind
        self.strength = mention.strength
        self.first = first
        self.count = 1
        self.sentences = sentences


def is_entity_key(key: str) -> bool:
    """Not a number alone, not a function word, not a single letter."""
    return len(key) > 1 and key not in _NO_NAMES and not key.replace(" ", "").isdigit()


def _trim_function_words(name: str) -> str:
    """Without leading and trailing function words ("The Beatles" → Beatles), as far as they are not capitals only."""
    words = name.split(" ")
    while words and _is_function_word(words[0]):
        words = words[1:]
    while words and _is_function_word(words[-1]):
        words = words[:-1]
    return " ".join(words)


def _is_function_word(word: str) -> bool:
    return word.casefold() in _NO_NAMES and not _is_acronym(word)


def _is_acronym(word: str) -> bool:
    """Capitals only: "WHO", "IT" and "US" are names though "who", "it" and "us" are none."""
    return len(word) > 1 and word.isupper() and word.isalpha()


def _name_parts(name: str) -> Iterator[tuple[str, str]]:
    """A span, its pieces between connectors, and its words, as (name, kind); a word like TG-04 is an identifier."""
    whole = _trim_function_words(name)
    if not whole:
        return
    yield whole, "name"
    pieces = _CONNECTOR.split(whole)
    if len(pieces) > 1:
        for piece in pieces:
            if piece:
                yield piece, "name" if " " in piece else "part"
    for piece in pieces:
        words = piece.split(" ")
        if len(words) > 1:
            for word in words:
                yield word, "identifier" if _IDENTIFIER.fullmatch(word) else "part"


def _title_names(title: str) -> Iterator[str]:
    """A title and its aliases: without what stands in brackets, and the part before the comma."""
    if len(title) > _LONGEST_TITLE:
        return
    yield title
    bare = _BRACKET.sub(" ", title).strip()
    if bare != title:
        yield bare
    if ", " in bare:
        yield bare.split(", ", 1)[0]


@lru_cache(65_536)
def title_entities(workspace: int, title: str) -> frozenset[int]:
    """The entities that a title makes of a document: the title and its aliases. By the numbers of their ids and of that
    of the workspace.
    """
    keys = {entity_key(name) for name in _title_names(title) if len(name) <= _LONGEST_NAME}
    return frozenset(_entity_id(workspace, key).int for key in keys if key)


def _is_abbreviation(name: str) -> bool:
    """ "e.g", "i.e", "a/b": no piece longer than a letter."""
    return len(name) <= 5 and all(len(piece) == 1 for piece in _NOT_KEY.split(name))


def _mention(name: str, kind: str) -> tuple[_EntityName, ...]:
    """What `name` names as that kind: one entity or none."""
    if len(name) > _LONGEST_NAME:
        return ()
    key = entity_key(name)
    return (_EntityName(name, key, kind, _STRENGTHS[kind]),) if is_entity_key(key) or _is_acronym(name) else ()


def _mentions(span: str, kind: str) -> tuple[_EntityName, ...]:
    """What a candidate of the text names."""
    if kind == "name" and " " in span:
        return tuple(one for part, part_kind in _name_parts(span) for one in _mention(part, part_kind))
    return () if kind == "code" and _is_abbreviation(span) else _mention(span, kind)


@lru_cache(_CACHED_MENTIONS)
def _mentions_with_cache(span: str, kind: str) -> tuple[_EntityName, ...]:
    return _mentions(span, kind)


def _candidates(text: str) -> Iterator[tuple[str, int, str]]:
    """The spans of a text that may name something, as (kind, start, span), in order."""
    for match in _CANDIDATE.finditer(text):
        kind = match.lastgroup
        if kind is not None:
            yield kind, match.start(kind), match[kind]


class _EntityCollector:
    """Collects one chunk's entities."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._ends = [match.end() for match in _SENTENCE_END.finditer(text)]
        self.found: dict[str, _EntityTally] = {}

    def read(self) -> None:
        """Everything the text names."""
        ends, found = self._ends, self.found
        for kind, start, span in _candidates(self._text):
            if kind == "url":
                continue
            sentence = bisect_right(ends, start)
            if kind == "name" and start == (ends[sentence - 1] if sentence else 0) and self._is_capitalised_word(span):
                continue
            for mention in (_mentions_with_cache if len(span) <= _LONGEST_NAME else _mentions)(span, kind):
                entity = found.get(mention.key)
                if entity is None:
                    found[mention.key] = _EntityTally(mention, start, [sentence])
                    continue
                entity.count += 1
                if mention.strength > entity.strength:
                    entity.kind, entity.strength = mention.kind, mention.strength
                if not entity.sentences or entity.sentences[-1] != sentence:
                    entity.sentences.append(sentence)

    def _is_capitalised_word(self, name: str) -> bool:
        """A sentence's first word that the same chunk also writes in lower case is no name."""
        return " " not in name and not name.isupper() and f" {name.casefold()} " in self._text

    def add(self, name: str, kind: str, position: int) -> None:
        """Count one mention outside the text; the strongest kind and the first spelling stay."""
        for mention in _mention(name, kind):
            entity = self.found.get(mention.key)
            if entity is None:
                self.found[mention.key] = _EntityTally(mention, position, [])
                continue
            entity.count += 1
            if mention.strength > entity.strength:
                entity.kind, entity.strength = mention.kind, mention.strength


def extract_entities(
    workspace_id: UUID, text: str, heading_path: Sequence[str], title: str | None, cap: int = ENTITY_CAP
) -> ChunkEntities:
    """The `cap` strongest entities of a chunk and the pairs that stand in one sentence (at most 12, most often first).

    Kinds: `title` (with its aliases), `identifier` (TG-04), `code` (camelCase, snake_case, dotted, paths), `name`
    (capitalised span), `heading` (the two innermost), `part` (a word of a span). Stronger kinds come first, then more
    mentions, then the earlier one; deterministic.
    """
    reader = _EntityCollector(text)
    for name in _title_names(title) if title else ():
        reader.add(name, "title", -2)
    for heading in heading_path[:-3:-1]:
        reader.add(heading, "heading", -1)
    reader.read()
    ranked = sorted([(-found.strength, -found.count, found.first, key, found) for key, found in reader.found.items()])[
        :cap
    ]
    workspace = workspace_id.int
    entities = tuple(
        [_make_entity(workspace, key, found.name, found.kind, found.count) for _, _, _, key, found in ranked]
    )
    return ChunkEntities(entities, _pairs(entities, [found.sentences for *_, found in ranked]))


def _pairs(entities: Sequence[ExtractedEntity], sentences: Sequence[Sequence[int]]) -> tuple[tuple[int, int], ...]:
    """The pairs of entities that stand together most often; `sentences` names those of each entity."""
    by_sentence: dict[int, list[int]] = {}
    for position, places in enumerate(sentences):
        for sentence in places:
            by_sentence.setdefault(sentence, []).append(position)
    together = Counter(
        chain.from_iterable([combinations(positions, 2) for positions in by_sentence.values() if len(positions) > 1])
    )
    strongest = sorted(sorted(together), key=together.__getitem__, reverse=True)[:PAIR_CAP]
    return tuple(
        [
            (first, second) if entities[first].entity_id.int < entities[second].entity_id.int else (second, first)
            for first, second in strongest
        ]
    )


@lru_cache(1024)
def question_entities(workspace_id: UUID, text: str) -> tuple[ExtractedEntity, ...]:
    """Every name a question may hold, as ids to look up: its n-grams of 1–4 words in any case, and longer spans.

    N-grams that begin or end with a function word are left out, and numbers alone; a function word in capitals stays.
    `kind` is `name` or `code` for what looks like one, else `ngram`. At most 400, longest first, then in reading order.
    """
    names: dict[str, ExtractedEntity] = {}

    def offer(key: str, name: str, kind: str) -> None:
        known = names.get(key)
        if known is None:
            names[key] = ExtractedEntity(entity_id_for(workspace_id, key), key, name, kind, 1)

    shouted = text.isupper()
    for found, _, span in _candidates(text):
        for name, kind in _name_parts(span) if found == "name" else ((span, "code"),):
            key = entity_key(name)
            if len(name) <= _LONGEST_NAME and (is_entity_key(key) or (_is_acronym(name) and not shouted)):
                offer(key, name, "code" if kind == "code" else "name")
    words = entity_key(text[:_LONGEST_QUESTION]).split(" ")
    for size in (4, 3, 2, 1):
        for start in range(len(words) - size + 1):
            gram = words[start : start + size]
            if gram[0] in FUNCTION_WORDS or gram[-1] in FUNCTION_WORDS:
                continue
            key = " ".join(gram)
            if is_entity_key(key):
                offer(key, key, "ngram")
    ranked = sorted(names.values(), key=lambda entity: -len(entity.key.split(" ")))
    return tuple(ranked[:_MOST_CANDIDATES])
