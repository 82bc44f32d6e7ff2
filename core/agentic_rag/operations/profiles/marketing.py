"""Share of voice, tone, channels and disclosures of a set of texts."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from agentic_rag.language.programming import SOURCE_MEDIA_TYPE
from agentic_rag.language.sentences import sentence_spans
from agentic_rag.language.words.word_tables import language_of, table_of
from agentic_rag.operations.profiles.lists import word_lists
from agentic_rag.operations.profiles.offers import find_offers
from agentic_rag.operations.profiles.texts import Place, ReportedText
from agentic_rag.operations.profiles.tone import CLEAR, tone_of
from agentic_rag.web.page_paths import host_of

OWN_DOCUMENTS = "documents"
"""The channel of what has no address."""
SHOWN = 20
"""Sentences of a brand that are told, and documents with promotional text."""
NEAR = 1_000
"""Characters between a promotional phrase and its label, at most; or the label stands in the first so many. Our own
measure: 16 CFR 255.5 asks for a clear and conspicuous disclosure and names no distance.
"""
LONGEST = 1_000
"""Characters of a sentence that are told."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A sentence that names a brand; `compound` is that of `Tone`, made of `words`; None where it is not in English."""

    place: Place
    compound: float | None
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BrandVoice:
    """How loud a brand is, and in what tone. Each sentence counts once for `positive`, `negative`, `neutral` or
    `other_language`.
    """

    brand: str
    mentions: int
    documents: int
    share: float
    """Of the mentions of all brands asked for; 0 where there are none."""
    positive: int
    negative: int
    neutral: int
    other_language: int
    """Sentences whose tone is not read: the lexicon is English."""
    sentences: tuple[Mention, ...]
    """The clearest in tone, at most `SHOWN`."""


@dataclass(frozen=True, slots=True)
class Channel:
    """A host, or the workspace's own documents, with its documents that name a brand."""

    name: str
    documents: int


@dataclass(frozen=True, slots=True)
class Disclosure:
    """A document with promotional text: where it sells, and the label that says so."""

    promotion: Place
    """The first phrase without a label near it, else the first."""
    label: Place | None
    """The label near it; None where there is none."""


@dataclass(frozen=True, slots=True)
class MarketingFindings:
    """What the texts come to."""

    documents: int
    brands: tuple[BrandVoice, ...]
    channels: tuple[Channel, ...]
    diversity: float
    """Of the channels: see `evenness`."""
    promotional: int
    """Documents with promotional text."""
    undisclosed: int
    """Those of which a promotional phrase has no label near it."""
    disclosures: tuple[Disclosure, ...]
    """At most `SHOWN` of them, those without a label first."""


def evenness(counts: Iterable[int]) -> float:
    """Shannon's entropy of the shares ÷ the logarithm of their number (Pielou, J. theor. Biol. 13, 1966): 1 where all
    channels have as many, 0 for one channel or none.
    """
    kept = [one for one in counts if one > 0]
    total = sum(kept)
    if len(kept) < 2:
        return 0.0
    entropy = -math.fsum(one / total * math.log(one / total) for one in kept)
    return min(1.0, entropy / math.log(len(kept)))


def report_marketing(texts: Sequence[ReportedText], brands: Sequence[str]) -> MarketingFindings:
    """What texts say of the brands, source code left out. The order of the texts decides nothing."""
    prose = [one for one in texts if one.media_type != SOURCE_MEDIA_TYPE]
    ordered = sorted(prose, key=lambda one: (one.source_path, one.document_id))
    found: dict[str, list[tuple[Mention, int]]] = {brand: [] for brand in brands}
    holding: dict[str, set[int]] = {brand: set() for brand in brands}
    for number, text in enumerate(ordered):
        for brand, mentions in _mentions(text, brands):
            found[brand].append(mentions)
            holding[brand].add(number)
    total = sum(count for mentions in found.values() for _, count in mentions)
    voices = tuple(_voice(brand, found[brand], len(holding[brand]), total) for brand in brands)
    named = sorted({number for numbers in holding.values() for number in numbers})
    channels = Counter(_channel(ordered[number]) for number in named)
    disclosures = [one for text in ordered if (one := _disclosure(text)) is not None]
    return MarketingFindings(
        documents=len(ordered),
        brands=voices,
        channels=tuple(Channel(*one) for one in sorted(channels.items(), key=lambda one: (-one[1], one[0]))),
        diversity=evenness(channels.values()),
        promotional=len(disclosures),
        undisclosed=sum(one.label is None for one in disclosures),
        disclosures=tuple(sorted(disclosures, key=lambda one: one.label is not None)[:SHOWN]),
    )


def _mentions(text: ReportedText, brands: Sequence[str]) -> Iterable[tuple[str, tuple[Mention, int]]]:
    """The sentences that name a brand, and how often."""
    patterns = {brand: phrase_pattern([brand]) for brand in brands}
    if not any(pattern.search(text.text) for pattern in patterns.values()):
        return
    for start, end in sentence_spans(text.text):
        sentence = text.text[start:end]
        for brand, pattern in patterns.items():
            if count := len(pattern.findall(sentence)):
                place = text.place(start, min(end, start + LONGEST))
                if _is_english(sentence, text.text):
                    tone = tone_of(pattern.sub(" ", sentence))
                    yield brand, (Mention(place, tone.compound, tuple(word for word, _ in tone.words)), count)
                else:
                    yield brand, (Mention(place, None, ()), count)


def _is_english(sentence: str, around: str) -> bool:
    """Whether a sentence is in English; where it has no sign of a language, whether the text is that it stands in."""
    if table_of(sentence) is not None:
        return False
    return table_of(around) is None or language_of(sentence) == "en"


def _voice(brand: str, found: Sequence[tuple[Mention, int]], documents: int, total: int) -> BrandVoice:
    sentences = [mention for mention, _ in found]
    mentions = sum(count for _, count in found)
    tones = [one.compound for one in sentences if one.compound is not None]
    positive = sum(one >= CLEAR for one in tones)
    negative = sum(one <= -CLEAR for one in tones)
    return BrandVoice(
        brand=brand,
        mentions=mentions,
        documents=documents,
        share=mentions / total if total else 0.0,
        positive=positive,
        negative=negative,
        neutral=len(tones) - positive - negative,
        other_language=len(sentences) - len(tones),
        sentences=tuple(sorted(sentences, key=lambda one: -abs(one.compound or 0.0))[:SHOWN]),
    )


def _channel(text: ReportedText) -> str:
    return (host_of(text.url) if text.url else None) or OWN_DOCUMENTS


def _disclosure(text: ReportedText) -> Disclosure | None:
    labels = _patterns()[1]
    phrases = promotions(text.text)
    if not phrases:
        return None
    found = [one.span() for one in labels.finditer(text.text)]
    near = [_label_of(phrase, found) for phrase in phrases]
    at = near.index(None) if None in near else 0
    label = near[at]
    return Disclosure(text.place(*phrases[at]), None if label is None else text.place(*label))


def promotions(text: str) -> list[tuple[int, int]]:
    """The spans of a text that sell, in order."""
    fixed = (one.span() for one in _patterns()[0].finditer(text))
    return sorted({*fixed, *find_offers(text)})


def _label_of(phrase: tuple[int, int], labels: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    """The nearest label before or behind a phrase, else one at the top; labels are in order."""
    start, end = phrase
    at = bisect_right(labels, start, key=lambda one: one[0])
    before, behind = labels[max(0, at - 1) : at], labels[at : at + 1]
    near = [one for one in before if start - one[1] <= NEAR] + [one for one in behind if one[0] - end <= NEAR]
    if near:
        return min(near, key=lambda one: abs(one[0] - start))
    return labels[0] if labels and labels[0][0] < NEAR else None


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    words = word_lists()
    return phrase_pattern(words["promotional"]), phrase_pattern(words["disclosure"])


def phrase_pattern(phrases: Sequence[str]) -> re.Pattern[str]:
    """Finds any of the phrases as whole words, whatever blanks part them and whatever case they have."""
    longest = sorted(phrases, key=len, reverse=True)
    each = [r"\s+".join(re.escape(word) for word in phrase.split()) for phrase in longest]
    return re.compile(rf"(?<!\w)(?:{'|'.join(each)})(?!\w)", re.IGNORECASE)
