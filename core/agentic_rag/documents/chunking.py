"""Cuts a parsed document into chunks that respect its structure and keep exact offsets.

Chunks are packed greedily, but the text around a cut chooses its place, not the text packed before. In the last part of
a full chunk the strongest boundary wins (the shallowest heading, then paragraphs, list items, sentences). Among equals
the piece with the lowest hash wins. So after an edit the cuts return to their old places within a few chunks, and only
those chunks are embedded again (content-defined chunking, as in Muthitacharoen, Chen and Mazières, "A Low-bandwidth
Network File System", 2001).
"""

from __future__ import annotations

import zlib
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from uuid import UUID

from agentic_rag.documents.chunk_pieces import ChunkPiece, split_pieces
from agentic_rag.documents.document import ChunkDraft, ParsedDocument, chunk_id_for, content_hash
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.kernel.text import strip_unstorable
from agentic_rag.workspaces.chunk_profiles import ChunkProfile, ChunkUnit

_SECTION_FILL, _PARAGRAPH_FILL, _SENTENCE_FILL = 0.25, 0.5, 0.6
"""The share of the size from which a chunk may end at a boundary of that strength. Higher shares give fuller chunks;
lower shares give better boundaries and faster resynchronisation after an edit.
"""
_ID_PREFIX_CHARACTERS = 48
"""Code points of a piece that are hashed to choose between equal boundaries."""
_SPACE_CHARACTERS_PER_UNIT = 64
"""White space costs no tokens, but a chunk is stored, compared and quoted with all of it. This cost makes a megabyte of
blank lines end a chunk.
"""
_READ_AHEAD = 1024
"""Pieces read at a time."""
PREPARED_JOIN = "\n\n"
"""Separates prepared chunks in the text of their revision."""


def chunk_document(
    document_id: UUID, parsed: ParsedDocument, profile: ChunkProfile, count_tokens: Callable[[str], int]
) -> list[ChunkDraft]:
    """The chunks of `parsed`, in order; none for a text of white space only.

    Every chunk is `text[start:end]`. Together the chunks hold all text but white space and running lines. None is
    larger than `profile.size`. Each repeats at most `profile.overlap` of the text before it. The size limit relies on
    the contract of `count_tokens`. Deterministic.
    """
    text = parsed.text
    in_tokens = profile.unit is ChunkUnit.TOKENS
    cost_of = count_tokens if in_tokens else len
    packer = _ChunkPacker(text, split_pieces(parsed, profile.size, cost_of), profile, cost_of)
    drafts = _ChunkDraftBuilder(document_id, parsed)
    for start, end, heading_path, cost in packer.spans():
        drafts.add(start, end, heading_path, cost if in_tokens else None)
    return drafts.made


def chunk_prepared_texts(document_id: UUID, texts: Sequence[str]) -> tuple[str, list[ChunkDraft]]:
    """The revision text joined from prepared chunks, and the chunks with their offsets in it.

    NUL and lone surrogates are removed. Errors: `InvalidInput` for a blank chunk.
    """
    cleaned = [strip_unstorable(text) for text in texts]
    for number, text in enumerate(cleaned):
        if not text.strip():
            raise InvalidInput(f"prepared chunk {number} holds no text", path=("chunks", str(number)))
    whole = PREPARED_JOIN.join(cleaned)
    spans: list[tuple[int, int]] = []
    start = 0
    for text in cleaned:
        spans.append((start, start + len(text)))
        start += len(text) + len(PREPARED_JOIN)
    return whole, chunk_at_spans(document_id, whole, spans)


def chunk_at_spans(document_id: UUID, text: str, spans: Sequence[tuple[int, int]]) -> list[ChunkDraft]:
    """The chunks of a storable text at known spans of code points [start, end)."""
    drafts = _ChunkDraftBuilder(document_id, ParsedDocument(text, (), (), None, "text/plain", "prepared", "1"))
    for start, end in spans:
        drafts.add(start, end, ())
    return drafts.made


def _common_path(atoms: Sequence[ChunkPiece]) -> tuple[str, ...]:
    path = atoms[0].path
    for atom in atoms[1:]:
        if atom.path is not path and atom.path[: len(path)] != path:
            shared = 0
            for ours, theirs in zip(path, atom.path, strict=False):
                if ours != theirs:
                    break
                shared += 1
            path = path[:shared]
    return path


class _ChunkPacker:
    """Groups pieces into chunks. It holds only the pieces that the next chunk may need: in a large document pieces (a
    hundred bytes each) outweigh their text (a few characters).
    """

    def __init__(
        self, text: str, atoms: Iterator[ChunkPiece], profile: ChunkProfile, cost_of: Callable[[str], int]
    ) -> None:
        self._atoms: list[ChunkPiece] = []
        self._coming = atoms
        self._text = text
        self._size = profile.size
        self._overlap = profile.overlap
        self._cost_of = cost_of
        self._gaps: dict[str, int] = {}

    def spans(self) -> Iterator[tuple[int, int, tuple[str, ...], int]]:
        """(start, end, heading path, cost) of every chunk."""
        atoms = self._atoms
        cut, first = 0, -1
        while cut < len(atoms) or self._read_more():
            first, used = self._find_overlap(cut, first + 1)
            if first < cut and used + self._gap(cut) + atoms[cut].cost > self._size:
                first, used = cut, 0
            end, cost = self._end(first, cut, used)
            yield atoms[first].start, atoms[end - 1].end, _common_path(atoms[cut:end]), cost
            cut = end
            if first >= _READ_AHEAD:
                del atoms[:first]
                cut, first = cut - first, 0

    def _read_more(self) -> bool:
        """Read more pieces; False at the end."""
        held = len(self._atoms)
        self._atoms.extend(islice(self._coming, _READ_AHEAD))
        return len(self._atoms) > held

    def _gap(self, index: int) -> int:
        """The cost of the white space before a piece."""
        start, end = self._atoms[index - 1].end, self._atoms[index].start
        if start == end:
            return 0
        gap = self._text[start:end]
        cost = self._gaps.get(gap)
        if cost is None:
            cost = self._gaps[gap] = max(self._cost_of(gap), len(gap) // _SPACE_CHARACTERS_PER_UNIT)
        return cost

    def _find_overlap(self, cut: int, earliest: int) -> tuple[int, int]:
        """The first piece of the overlap before `cut`, and the overlap's cost. A new section repeats nothing.

        `earliest` lies after the start of the previous chunk, so no chunk is repeated whole.
        """
        first, used = cut, 0
        if self._atoms[cut].opens_section:
            return cut, 0
        while first > earliest:
            more = self._atoms[first - 1].cost + (self._gap(first) if first < cut else 0)
            if used + more + self._gap(cut) > self._overlap:
                break
            used += more
            first -= 1
            if self._atoms[first].opens_section:
                break
        return first, used

    def _end(self, first: int, cut: int, used: int) -> tuple[int, int]:
        """The end and the cost of the chunk whose overlap begins at `first` and whose new text begins at `cut`."""
        atoms, size = self._atoms, self._size
        opening = atoms[cut].path
        fills: list[int] = []
        index = cut
        while index < len(atoms) or self._read_more():
            atom = atoms[index]
            more = atom.cost + (self._gap(index) if index > first else 0)
            if used + more > size or (atom.opens_section and index > cut and self._leaves(opening, index)):
                break
            fills.append(used)
            used += more
            index += 1
        else:
            return index, used
        if self._leaves(opening, index):
            return index, used
        fills.append(used)
        best = self._best_cut(cut, fills)
        return best, fills[best - cut]

    def _leaves(self, opening: tuple[str, ...], index: int) -> bool:
        """Whether the piece stands apart, or opens a section outside the parent of that in which the chunk began."""
        atom = self._atoms[index]
        if not atom.opens_section or atom.stands_apart:
            return atom.stands_apart
        parent = opening[:-1]
        return not opening or atom.path[: len(parent)] != parent

    def _best_cut(self, cut: int, fills: list[int]) -> int:
        """The best boundary after `cut`; `fills[i]` is the chunk's cost when it ends before piece `cut + i`."""
        best, best_rank = cut + len(fills) - 1, (-1, 0)
        for offset in range(len(fills) - 1, 0, -1):
            fill = fills[offset] / self._size
            if fill < _SECTION_FILL:
                break
            atom = self._atoms[cut + offset]
            if atom.strength < 0 or fill < _least_fill(atom.strength) or atom.strength < best_rank[0]:
                continue
            head = self._text[atom.start : min(atom.end, atom.start + _ID_PREFIX_CHARACTERS)]
            rank = (atom.strength, -zlib.crc32(head.encode("utf-8", "surrogatepass")))
            if best_rank[0] < 0 or rank > best_rank:
                best, best_rank = cut + offset, rank
        while best_rank[0] < 0 and best > cut + 1 and self._atoms[best].strength < 0:
            best -= 1
        return best


def _least_fill(strength: int) -> float:
    if strength <= 1:
        return _SENTENCE_FILL
    return _PARAGRAPH_FILL if strength <= 3 else _SECTION_FILL


class _ChunkDraftBuilder:
    """Turns spans of one document into chunk drafts with pages, lines and stable ids."""

    def __init__(self, document_id: UUID, parsed: ParsedDocument) -> None:
        self.made: list[ChunkDraft] = []
        self._document_id = document_id
        self._text = parsed.text
        self._page_starts = [page.start for page in parsed.pages]
        self._page_numbers = [page.number for page in parsed.pages]
        self._pages_end = parsed.pages[-1].end if parsed.pages else 0
        """Behind it stands what no page holds: attached files, and lines that run through all pages."""
        self._line, self._counted = 1, 0
        """The line in which the last chunk began, and the offset up to which lines are counted."""
        self._seen: dict[bytes, int] = {}

    def add(self, start: int, end: int, heading_path: tuple[str, ...], tokens: int | None = None) -> None:
        """Append a chunk; chunks come in order of `start`."""
        self._line += self._text.count("\n", self._counted, start)
        self._counted = start
        text = self._text[start:end]
        digest = content_hash(text)
        occurrence = self._seen.get(digest, 0)
        self._seen[digest] = occurrence + 1
        page = bisect_right(self._page_starts, start) - 1
        self.made.append(
            ChunkDraft(
                chunk_id=chunk_id_for(self._document_id, digest, occurrence),
                index=len(self.made),
                text=text,
                start=start,
                end=end,
                page=self._page_numbers[page] if page >= 0 and start < self._pages_end else None,
                line_start=self._line,
                line_end=self._line + self._text.count("\n", start, end - 1),
                heading_path=heading_path,
                content_hash=digest,
                tokens=tokens,
            )
        )
