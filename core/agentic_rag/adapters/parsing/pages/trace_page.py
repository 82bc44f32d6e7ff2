"""Reads a page and traces where each of its blocks stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from selectolax.lexbor import LexborNode

from agentic_rag.adapters.parsing.pages.block_origins import BlockOrigin, NodePlace, origin_of, place_of
from agentic_rag.adapters.parsing.pages.block_signs import Signs, block_signs, words_of
from agentic_rag.adapters.parsing.pages.page_facts import PageFacts
from agentic_rag.adapters.parsing.text.page_content import letters_of, read_page
from agentic_rag.adapters.parsing.text.page_walker import PageWalker, read_asides, read_content
from agentic_rag.adapters.parsing.text_builder import LoadedText
from agentic_rag.documents.document import BlockKind


@dataclass(frozen=True, slots=True)
class TracedPage:
    """A page with all its blocks, and where each of them stands in it."""

    loaded: LoadedText
    origins: Sequence[BlockOrigin]
    facts: PageFacts
    asides: Sequence[str]
    """What stands beside these blocks, or is hidden."""

    def signs(self) -> list[Signs]:
        """The signs of each block."""
        return block_signs(self.loaded.text, self.loaded.blocks, self.origins, self.facts, self.loaded.title or "")

    def words(self) -> list[int]:
        """The words of each block."""
        return [len(words_of(self.loaded.text[one.start : one.end])) for one in self.loaded.blocks]

    def links(self) -> list[float]:
        """The share of each block's letters in links."""
        return [one.linked / one.letters if one.letters else 0.0 for one in self.origins]

    def parents(self) -> list[int]:
        """The element in which each block stands."""
        return [one.parent for one in self.origins]


def trace_page(source: str) -> TracedPage:
    """Read a page with all its blocks."""
    page = read_page(source)
    walker = _TracingWalker()
    return TracedPage(read_content(page, walker), walker.origins, page.facts, read_asides(page))


class _TracingWalker(PageWalker):
    """Notes where each block stands."""

    def __init__(self) -> None:
        super().__init__(describes_pictures=False)
        self.origins: list[BlockOrigin] = []
        self._places: list[NodePlace] = []
        self._letters = self._linked = self._links = 0
        """Of the text that is gathered: letters, those in links; and links around it."""

    def _deeper(self, node: LexborNode) -> None:
        is_link = node.tag == "a"
        self._links += is_link
        self._places.append(place_of(node))
        super()._deeper(node)
        self._places.pop()
        self._links -= is_link

    def _add_inline(self, tag: str, node: LexborNode) -> None:
        before = len(self._inline)
        super()._add_inline(tag, node)
        letters = sum(len(word) for text in self._inline[before:] for word in text.split())
        self._letters += letters
        self._linked += letters if self._links else 0

    def _add(self, kind: BlockKind, text: str, level: int = 0, node: LexborNode | None = None) -> None:
        super()._add(kind, text, level, node)
        self._note(node)

    def _flush(self) -> None:
        super()._flush()
        self._letters = self._linked = 0
        # Blocks of drawings hold no text of the page.
        self._note(None)

    def _table(self, node: LexborNode) -> None:
        super()._table(node)
        self._note(node)

    def _note(self, node: LexborNode | None) -> None:
        """The origins of blocks that were added since."""
        own = 0 if node is None else place_of(node).bits
        letters = self._letters if node is None else letters_of(node)
        linked = self._linked if node is None else sum(map(letters_of, node.css("a")))
        while len(self.origins) < len(self.built.blocks):
            self.origins.append(origin_of(self._places, own, letters, linked))
