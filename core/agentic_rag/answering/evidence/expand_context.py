"""Search small, read large: the chunks beside a passage that go on with its section, and the header of a table that
began before it.

Evidence that grew keeps its own chunk, offsets and text, so that a citation of it is checked like any other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from agentic_rag.documents.document import Chunk, ChunkPosition
from agentic_rag.language.tables import RULE_ROW, caption_span, header_span, is_row
from agentic_rag.language.token_estimate import estimate_tokens
from agentic_rag.retrieval.candidates import SCORE_DIGITS, SECTION, Passage

EXPANDED_PASSAGES = 3
"""Passages that grow, best first: further down the list hardly anything is quoted."""
TABLE_LOOKBACK_CHUNKS = 4
"""Chunks before a passage in which the header of its table is looked for."""
NEIGHBOUR_SHARE = 0.7
"""Of the passage's score: a chunk beside it was not found itself."""


def neighbour_positions(passages: Sequence[Passage]) -> list[ChunkPosition]:
    """Where the chunks stand that the first passages may grow by, those already there left out; at most
    `GROWING` · (`TABLE_LOOKBACK_CHUNKS` + 1).
    """
    known = {_place(passage.chunk) for passage in passages}
    wanted: dict[ChunkPosition, None] = {}
    for passage in passages[:EXPANDED_PASSAGES]:
        chunk = passage.chunk
        reach = TABLE_LOOKBACK_CHUNKS if opens_in_table(chunk) else 1
        for index in (chunk.index + 1, *range(chunk.index - 1, max(-1, chunk.index - 1 - reach), -1)):
            wanted.setdefault(ChunkPosition(chunk.document_id, chunk.revision_id, index))
    return [place for place in wanted if place not in known]


def expand_passages(passages: Sequence[Passage], beside: Sequence[Chunk], tokens: int) -> tuple[Passage, ...]:
    """The passages with what they grow by: the tables' headers, then the chunks of the same section that fit into
    `tokens` together with the passages, best passage first, what follows before what precedes.
    """
    chunks = {_place(one): one for one in (*beside, *(passage.chunk for passage in passages))}
    headed = [
        replace(one, table_head=table_head(one.chunk, chunks) or one.table_head) for one in passages[:EXPANDED_PASSAGES]
    ]
    whole = [*headed, *passages[EXPANDED_PASSAGES:]]
    taken = {passage.chunk.ordinal for passage in passages}
    room = _TokenBudget(tokens, [passage.chunk.text for passage in passages])
    for passage in headed:
        for step in (1, -1):
            found = chunks.get(_place(passage.chunk, step))
            if found is None or found.ordinal in taken or found.heading_path != passage.chunk.heading_path:
                continue
            if not room.take(found.text):
                continue
            taken.add(found.ordinal)
            whole.append(_with_neighbour(passage, found, chunks))
    return tuple(whole)


class _TokenBudget:
    """A budget of tokens. A token has a character at least, so tokens are counted only where characters are too many
    for the budget: counting those of eight passages costs as much as drafting a sentence.
    """

    __slots__ = ("_counted", "_left", "_texts", "_tokens")

    def __init__(self, tokens: int, texts: list[str]) -> None:
        self._tokens = tokens
        self._texts = texts
        self._counted = False
        self._left = tokens - sum(map(len, texts))

    def take(self, text: str) -> bool:
        """True for a text that fits beside those taken before; it is taken then."""
        if not self._counted and len(text) > self._left:
            self._left = self._tokens - sum(map(estimate_tokens, self._texts))
            self._counted = True
        cost = estimate_tokens(text) if self._counted else len(text)
        if cost > self._left:
            return False
        self._left -= cost
        self._texts.append(text)
        return True


def _with_neighbour(passage: Passage, chunk: Chunk, chunks: Mapping[ChunkPosition, Chunk]) -> Passage:
    score = round(NEIGHBOUR_SHARE * passage.candidate.score, SCORE_DIGITS)
    candidate = replace(passage.candidate, ordinal=chunk.ordinal, score=score, path=())
    return Passage(chunk, candidate, passage.parts, SECTION, table_head(chunk, chunks))


def _place(chunk: Chunk, step: int = 0) -> ChunkPosition:
    return ChunkPosition(chunk.document_id, chunk.revision_id, chunk.index + step)


def opens_in_table(chunk: Chunk) -> bool:
    """True for a chunk whose first line is a row of a table that may have begun before it."""
    return chunk.index > 0 and is_row(chunk.text.split("\n", 1)[0].strip())


def table_head(chunk: Chunk, chunks: Mapping[ChunkPosition, Chunk]) -> str:
    """Caption, header row and rule of the table in which the chunk opens, a line each, when they stand before it; else
    empty.
    """
    if not opens_in_table(chunk):
        return ""
    before = ""
    first = chunk
    for step in range(1, TABLE_LOOKBACK_CHUNKS + 1):
        earlier = chunks.get(_place(chunk, -step))
        if earlier is None or first.start - earlier.end > 1:
            break
        before = earlier.text[: first.start - earlier.start] + "\n" * (first.start - earlier.end) + before
        first = earlier
        if not is_row(before.split("\n", 1)[0].strip()):
            break
    begun = first.index == 0 or not is_row(before.split("\n", 1)[0].strip())
    header = header_span(before + chunk.text, len(before)) if before else None
    if header is not None and not begun and not _has_rule(before, header):
        return ""
    if header is None or header[0] >= len(before):
        return ""
    caption = caption_span(before, header[0])
    lines = [before[slice(*caption)]] if caption else []
    lines.append(before[slice(*header)])
    if _has_rule(before, header):
        lines.append(_line_below(before, header))
    return "\n".join(lines) + "\n"


def _has_rule(text: str, header: tuple[int, int]) -> bool:
    return RULE_ROW.match(_line_below(text, header)) is not None


def _line_below(text: str, line: tuple[int, int]) -> str:
    return text[line[1] + 1 :].split("\n", 1)[0]
