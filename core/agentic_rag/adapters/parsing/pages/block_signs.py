"""Signs of a page's blocks by which trees tell main content from furniture."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise
from math import log, log1p

from agentic_rag.adapters.parsing.pages.block_origins import NAMES, TAGS, BlockOrigin
from agentic_rag.adapters.parsing.pages.page_facts import PageFacts
from agentic_rag.documents.document import Block, BlockKind

_WORD = re.compile(r"\w+")
_PHRASES = re.compile(
    r"©|copyright|all rights reserved|cookie|privacy policy|terms (?:of|and|&)|subscribe|newsletter|sign (?:in|up)|"
    r"log ?in|register|read more|learn more|share (?:this|on)|follow us|add to (?:cart|bag|basket|wish)|skip to|"
    r"back to top|click here|powered by|contact us|related|you (?:may|might) also|(?:view|see) (?:all|more)|"
    r"(?:show|load) more|next|previous|leave a (?:comment|reply)|advertis|sponsored|report|reply",
    re.IGNORECASE,
)
"""What furniture says; a sign among others."""
_DATES = re.compile(
    r"\b(?:19|20)\d\d\b|\b\d{1,2}[:/.]\d{2}\b|\bago\b|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* \d",
    re.IGNORECASE,
)
_MONEY = re.compile(r"[$€£¥]\s?\d|\d\s?[$€£]")
_KIND_NUMBERS = {kind: float(number) for number, kind in enumerate(BlockKind)}
_LONG, _LINKED = 10, 0.4
"""Words from which a block is running text, and the share of letters in links up to which it is."""
_WINDOWS = (6, 20)
"""Blocks before and behind that are looked at together."""
_NOTHING = (-1.0,) * 4
_TAG_NUMBERS = {tag: float(number) for number, tag in enumerate(TAGS)}
_BITS = tuple(1 << place for place in range(len(TAGS) + len(NAMES)))
_NAME_BITS = _BITS[len(TAGS) :]

Signs = Sequence[float]


def words_of(text: str) -> list[str]:
    """The words of a text, in lower case."""
    return _WORD.findall(text.lower())


def block_signs(
    text: str, blocks: Sequence[Block], origins: Sequence[BlockOrigin], facts: PageFacts, title: str
) -> list[Signs]:
    """The signs of each block, in the order that the trees are trained on."""
    page = _Page(text, blocks, origins, facts, title)
    return [page.signs(place) for place in range(len(blocks))]


class _Page:
    """Counts over all blocks of a page."""

    def __init__(
        self, text: str, blocks: Sequence[Block], origins: Sequence[BlockOrigin], facts: PageFacts, title: str
    ) -> None:
        self.blocks, self.origins, self.facts = blocks, origins, facts
        self.texts = [text[one.start : one.end] for one in blocks]
        words = [words_of(one) for one in self.texts]
        self.words = [len(one) for one in words]
        self.total = sum(self.words) or 1
        self.links = [one.linked / one.letters if one.letters else 0.0 for one in origins]
        self.running = [
            float(count >= _LONG and share < _LINKED) for count, share in zip(self.words, self.links, strict=True)
        ]
        phrases = _Phrases(facts.described)
        self.described = [_run_share(one, phrases) for one in words] if facts.described else []
        named = set(words_of(title))
        self.named = [len(named.intersection(one)) / len(named) if named else 0.0 for one in words]
        self.same = Counter(self.texts)
        self.of_parent = _Groups([one.parent for one in origins], self)
        self.of_grandparent = _Groups([one.grandparent for one in origins], self)
        self.of_kind = _Groups([one.kind for one in origins], self)
        letters = sum(one.letters for one in origins)
        self.linked = sum(one.linked for one in origins) / letters if letters else 0.0
        self.running_share = (
            sum(count for count, share in zip(self.words, self.links, strict=True) if count >= 15 and share < 0.3)
            / self.total
        )
        first = (place for place, one in enumerate(blocks) if one.kind is BlockKind.HEADING and one.level == 1)
        self.first_heading = next(first, -1)
        self.before = _sums(self.words)
        self.running_before = _sums(self.running)
        self.letters_before = _sums([one.letters for one in origins])
        self.linked_before = _sums([one.linked for one in origins])
        headed = -99
        self.since_heading = list[float]()
        for place, one in enumerate(blocks):
            headed = place if one.kind is BlockKind.HEADING else headed
            self.since_heading.append(float(min(place - headed, 99)))

    def signs(self, place: int) -> Signs:
        """Of the block, of those around it, of the page, and of the elements that it stands in."""
        origin, count = self.origins[place], len(self.blocks)
        return [
            *self._own(place),
            place / count,
            self.before[place] / self.total,
            float(place - self.first_heading) if self.first_heading >= 0 else -999.0,
            self.since_heading[place],
            float(origin.depth),
            _TAG_NUMBERS.get(origin.tag, -1.0),
            *self.of_parent.signs(place),
            *self.of_grandparent.signs(place),
            *self.of_kind.signs(place),
            log(self.total),
            float(count),
            self.running_share,
            self.linked,
            *self._windows(place),
            *(sign for step in (-2, -1, 1, 2) for sign in self._neighbour(place + step)),
            *map(float, self.facts.kinds),
            *(float(bool(origin.around & bit)) for bit in _BITS),
            *(float(bool(origin.near & bit)) for bit in _NAME_BITS),
        ]

    def _own(self, place: int) -> Signs:
        text, block, words = self.texts[place], self.blocks[place], self.words[place]
        size = len(text) or 1
        return [
            log1p(words),
            self.links[place],
            _KIND_NUMBERS[block.kind],
            float(block.level),
            size / (words or 1),
            sum(map(str.isdigit, text)) / size,
            sum(map(str.isupper, text)) / size,
            float(text[-1:] in '.!?:;”"'),
            float(text.count(",") + text.count(". ")),
            float(_PHRASES.search(text) is not None),
            float(_DATES.search(text) is not None),
            float(_MONEY.search(text) is not None),
            self.described[place] if self.described else -1.0,
            self.named[place],
            float(self.same[text]),
        ]

    def _windows(self, place: int) -> list[float]:
        found = list[float]()
        for reach in _WINDOWS:
            low, high = max(0, place - reach), min(len(self.blocks), place + reach + 1)
            letters = self.letters_before[high] - self.letters_before[low]
            linked = self.linked_before[high] - self.linked_before[low]
            found += [
                (self.running_before[high] - self.running_before[low]) / (high - low),
                linked / letters if letters else 0.0,
                log1p(self.before[high] - self.before[low]),
            ]
        return found

    def _neighbour(self, place: int) -> Signs:
        if not 0 <= place < len(self.blocks):
            return _NOTHING
        is_heading = float(self.blocks[place].kind is BlockKind.HEADING)
        return log1p(self.words[place]), self.links[place], is_heading, self.running[place]


class _Groups:
    """Blocks that stand in the same element, or in elements of the same look."""

    def __init__(self, keys: Sequence[int | str], page: _Page) -> None:
        self._keys = keys
        self._counts = Counter(keys)
        self._words = defaultdict[int | str, int](int)
        self._letters = defaultdict[int | str, int](int)
        self._linked = defaultdict[int | str, int](int)
        for key, words, origin in zip(keys, page.words, page.origins, strict=True):
            self._words[key] += words
            self._letters[key] += origin.letters
            self._linked[key] += origin.linked

    def signs(self, place: int) -> Signs:
        """How many they are, their words, and the share of their letters in links."""
        key = self._keys[place]
        return float(self._counts[key]), log1p(self._words[key]), self._linked[key] / (self._letters[key] or 1)


class _Phrases:
    """Which runs of three words stand in a text."""

    def __init__(self, text: str) -> None:
        words = words_of(text)
        self.threes = set(zip(words, words[1:], words[2:], strict=False))
        self.twos = set(pairwise(words))
        self.ones = set(words)


def _run_share(words: Sequence[str], phrases: _Phrases) -> float:
    """The share of a text's runs of words that stand in another."""
    if len(words) > 2:
        runs = list(zip(words, words[1:], words[2:], strict=False))
        return sum(one in phrases.threes for one in runs) / len(runs)
    if len(words) == 2:
        return float((words[0], words[1]) in phrases.twos)
    return float(bool(words) and words[0] in phrases.ones)


def _sums(values: Sequence[float]) -> list[float]:
    """The sum of what stands before each place, and of all."""
    sums = [0.0]
    for value in values:
        sums.append(sums[-1] + value)
    return sums
