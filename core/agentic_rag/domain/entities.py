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
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations
from uuid import UUID

from agentic_rag.domain.documents import hashed_id
from agentic_rag.domain.english import FUNCTION_WORDS
from agentic_rag.domain.retrieval import ChunkEntities, ExtractedEntity

ENTITY_CAP = 24
PAIR_CAP = 12
"""Per chunk; the graph's size and the publish's cost follow from them. 12 lost 1 to 2 points of R@5 where
answers lie two passages apart."""

_LONGEST_NAME = 80
_CACHED_NAMES = 16_384
"""4 MB each when full."""
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
# Plain words, most of a text, are passed by in one step.
_CANDIDATE = re.compile(
    r"\b(?![a-z]++(?![\w:./]))(?:"
    r"(?P<url>https?://\S++)"
    rf"|(?P<identifier>{_IDENTIFIER.pattern}\b)"
    r"|(?P<code>[A-Za-z_]\w*+(?:(?:::|\.|/)[A-Za-z_]\w*+){1,12}|[A-Za-z]\w*_\w++|[a-z]+[A-Z]\w++|[A-Z][a-z]+[A-Z]\w++)"
    r")"
    rf"|(?P<name>{_CAPITALISED}(?:{_LINK}{_CAPITALISED}|(?<=\b[A-Z])\. {_CAPITALISED}){{0,7}}+)"
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


@lru_cache(_CACHED_NAMES)
def entity_id_for(workspace_id: UUID, key: str) -> UUID:
    """The id of an entity in a workspace: known from its key alone, so that a question needs no dictionary."""
    return hashed_id(b"entity", workspace_id.bytes, key.encode("utf-8", "surrogatepass"))


@dataclass(slots=True)
class _Found:
    """An entity while a chunk is read."""

    name: str
    kind: str
    first: int
    count: int = 0
    sentences: set[int] = field(default_factory=set[int])


def is_entity_key(key: str) -> bool:
    """Not a number alone, not a function word, not a single letter."""
    return len(key) > 1 and key not in _NO_NAMES and not key.replace(" ", "").isdigit()


def _trimmed(name: str) -> str:
    """Without leading and trailing function words ("The Beatles" → Beatles), as far as they are not capitals only."""
    words = name.split(" ")
    while words and _says_nothing(words[0]):
        words = words[1:]
    while words and _says_nothing(words[-1]):
        words = words[:-1]
    return " ".join(words)


def _says_nothing(word: str) -> bool:
    return word.casefold() in _NO_NAMES and not _is_acronym(word)


def _is_acronym(word: str) -> bool:
    """Capitals only: "WHO", "IT" and "US" are names though "who", "it" and "us" are none."""
    return len(word) > 1 and word.isupper() and word.isalpha()


def _named_parts(name: str) -> Iterator[tuple[str, str]]:
    """A span, its pieces between connectors, and its words, as (name, kind); a word like TG-04 is an identifier."""
    whole = _trimmed(name)
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
def title_entities(workspace_id: UUID, title: str) -> frozenset[UUID]:
    """The entities that a title makes of a document: the title and its aliases."""
    keys = {entity_key(name) for name in _title_names(title) if len(name) <= _LONGEST_NAME}
    return frozenset(entity_id_for(workspace_id, key) for key in keys if key)


def _is_abbreviation(name: str) -> bool:
    """ "e.g", "i.e", "a/b": no piece longer than a letter."""
    return len(name) <= 5 and all(len(piece) == 1 for piece in _NOT_KEY.split(name))


class _Reader:
    """Collects one chunk's entities."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._ends = [match.end() for match in _SENTENCE_END.finditer(text)]
        self.found: dict[str, _Found] = {}

    def read(self) -> None:
        """Everything the text names."""
        for match in _CANDIDATE.finditer(self._text):
            kind = match.lastgroup or "name"
            start = match.start()
            sentence = bisect_right(self._ends, start)
            name = match.group()
            if kind == "url" or (kind == "code" and _is_abbreviation(name)):
                continue
            if kind != "name":
                self.add(name, kind, start, sentence)
                continue
            if " " not in name:
                if not self._is_capitalised_word(name, start, sentence):
                    self.add(name, kind, start, sentence)
                continue
            for part, part_kind in _named_parts(name):
                self.add(part, part_kind, start, sentence)

    def _is_capitalised_word(self, name: str, start: int, sentence: int) -> bool:
        """A sentence's first word that the same chunk also writes in lower case is no name."""
        opens = start == (self._ends[sentence - 1] if sentence else 0)
        return opens and not name.isupper() and f" {name.casefold()} " in self._text

    def add(self, name: str, kind: str, position: int, sentence: int | None) -> None:
        """Count one mention; the strongest kind and the first spelling stay."""
        if len(name) > _LONGEST_NAME:
            return
        key = entity_key(name)
        if not (is_entity_key(key) or _is_acronym(name)):
            return
        found = self.found.get(key)
        if found is None:
            found = self.found[key] = _Found(name, kind, position)
        elif _STRENGTHS[kind] > _STRENGTHS[found.kind]:
            found.kind = kind
        found.count += 1
        if sentence is not None:
            found.sentences.add(sentence)


def extract_entities(
    workspace_id: UUID, text: str, heading_path: Sequence[str], title: str | None, cap: int = ENTITY_CAP
) -> ChunkEntities:
    """The `cap` strongest entities of a chunk and the pairs that stand in one sentence (at most 12, most often first).

    Kinds: `title` (with its aliases), `identifier` (TG-04), `code` (camelCase, snake_case, dotted, paths), `name`
    (capitalised span), `heading` (the two innermost), `part` (a word of a span). Stronger kinds come first, then more
    mentions, then the earlier one; deterministic.
    """
    reader = _Reader(text)
    for name in _title_names(title) if title else ():
        reader.add(name, "title", -2, None)
    for heading in heading_path[:-3:-1]:
        reader.add(heading, "heading", -1, None)
    reader.read()
    ranked = sorted(
        reader.found.items(), key=lambda item: (-_STRENGTHS[item[1].kind], -item[1].count, item[1].first, item[0])
    )[:cap]
    entities = tuple(
        ExtractedEntity(entity_id_for(workspace_id, key), key, found.name, found.kind, found.count)
        for key, found in ranked
    )
    return ChunkEntities(entities, _pairs(entities, [found for _, found in ranked]))


def _pairs(entities: Sequence[ExtractedEntity], found: Sequence[_Found]) -> tuple[tuple[int, int], ...]:
    by_sentence: dict[int, list[int]] = {}
    for position, entity in enumerate(found):
        for sentence in entity.sentences:
            by_sentence.setdefault(sentence, []).append(position)
    together: Counter[tuple[int, int]] = Counter()
    for positions in by_sentence.values():
        together.update(combinations(positions, 2))
    strongest = sorted(sorted(together), key=together.__getitem__, reverse=True)[:PAIR_CAP]
    return tuple(
        (first, second) if entities[first].entity_id.int < entities[second].entity_id.int else (second, first)
        for first, second in strongest
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
    for match in _CANDIDATE.finditer(text):
        spans = _named_parts(match.group()) if match.lastgroup == "name" else ((match.group(), "code"),)
        for name, kind in spans:
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
