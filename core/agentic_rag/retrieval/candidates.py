"""The values that retrieval arms return, the candidates that fusion makes of them, and the passages for synthesis."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from agentic_rag.documents.document import Chunk
from agentic_rag.language.prompt_injection import Suspicion

CORPUS = "corpus"
"""Origin of evidence that retrieval found; a tool's evidence carries the tool's name."""
SECTION = "section"
"""Origin of evidence beside a passage in its section. It has the scores of that passage."""
FIGURES = "figures"
"""Origin of evidence that was found by its measure inside a document that the question means."""


class Retriever(enum.Enum):
    """An arm of hybrid retrieval."""

    DENSE = "dense"
    LEXICAL = "lexical"
    GRAPH = "graph"


SCORE_DIGITS = 6
"""Scores are rounded to this many digits before ranking, so that no ranking hangs on the last bits of a float."""


class ArmHit(NamedTuple):
    """A candidate of one arm. `raw` is the arm's own figure (cosine, BM25, graph mass); `score` the same on an
    absolute scale in [0, 1]. A tuple, since a question makes hundreds of them.
    """

    ordinal: int
    raw: float
    score: float


@dataclass(frozen=True, slots=True)
class ArmScore:
    """What one arm gave a candidate, and at which rank (from 1)."""

    retriever: Retriever
    rank: int
    raw: float
    normalised: float
    weight: float


class HopKind(enum.Enum):
    """The kind of link from one passage to the next."""

    NAMES = "names"
    """The passage before names the title of the next."""
    NAMED_BY = "named_by"
    """The next passage names the title of the one before."""
    SHARES = "shares"
    """Both mention an entity that is in neither title nor in the question."""
    SAME_TITLE = "same_title"
    COVERS = "covers"
    """No entity links them; the next passage holds what the ones before leave open of the question."""


@dataclass(frozen=True, slots=True)
class Hop:
    """One step of the path that leads to a passage. `via` is the title or entity both have, empty for COVERS."""

    kind: HopKind
    via: str
    from_chunk_id: UUID
    from_document_id: UUID
    from_title: str
    to_chunk_id: UUID
    to_document_id: UUID
    to_title: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """A fused candidate: highest score first, ties by ordinal. `path` leads to it from a passage that resembles the
    question more; empty when no path raised it.
    """

    ordinal: int
    score: float
    arms: tuple[ArmScore, ...]
    path: tuple[Hop, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchScope:
    """What a search may see: the caller's access sets and, when a filter was given, the ordinals it leaves.

    `ordinals` is None without a filter; otherwise every arm returns only those.
    """

    access_ids: tuple[int, ...]
    ordinals: frozenset[int] | None = None


@dataclass(frozen=True, slots=True)
class MentionCount:
    """An entity mentioned by a chunk `count` times."""

    entity_id: UUID
    ordinal: int
    count: int


@dataclass(frozen=True, slots=True)
class EntityPassages:
    """The passages of one entity. Of an entity in more passages than the asked cap only that is known: `passages` is
    cap + 1 and `ordinals` is empty. It would link half the corpus, so nobody follows it.
    """

    entity_id: UUID
    passages: int
    ordinals: tuple[int, ...]
    """Ascending."""
    counts: tuple[int, ...]
    """How often each of them mentions the entity."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """`related` stands `weight` (≥ 1) times in the same sentence as `entity_id`."""

    entity_id: UUID
    related: UUID
    weight: int


@dataclass(frozen=True, slots=True)
class ExtractedEntity:
    """An entity as found in one chunk. `key` is its normalised name."""

    entity_id: UUID
    key: str
    name: str
    kind: str
    count: int


@dataclass(frozen=True, slots=True)
class ChunkEntities:
    """The entities of one chunk, and which pairs (positions in `entities`, smaller id first) stand in one sentence."""

    entities: tuple[ExtractedEntity, ...]
    pairs: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class CandidateTrace:
    """A fused candidate as shown in `debug`."""

    chunk_id: UUID
    document_id: UUID
    title: str
    score: float
    arms: tuple[ArmScore, ...]
    dropped_because: str | None
    path: tuple[Hop, ...] = ()
    """The path that raised it; empty without one."""
    flags: tuple[Suspicion, ...] = ()
    """As `Citation.flags`; looked for in passages that were handed to synthesis."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A retrieved chunk and its fused candidate. `parts` are the positions of the sub-questions that found it."""

    chunk: Chunk
    candidate: Candidate
    parts: tuple[int, ...] = (0,)
    origin: str = CORPUS
    table_head: str = ""
    """Caption, header row and rule of the table in which the chunk opens, a line each, when they stand before it."""

    @property
    def text_with_table_head(self) -> str:
        """The chunk's text as rows of a table that began before it need it read."""
        return self.table_head + self.chunk.text
