"""Whether another document says that what is quoted was changed: the amendment to a contract, a correction."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from agentic_rag.answering.evidence.stated import texts_of
from agentic_rag.answering.extraction.candidate_units import Subquery
from agentic_rag.answering.extraction.extractive import DraftSentence, ExcludedSpans
from agentic_rag.answering.extraction.reading import headings_above
from agentic_rag.answering.extraction.term_matching import lower_text, mask_of, weight_of
from agentic_rag.answering.extraction.text_units import UnitKind, format_unit
from agentic_rag.answering.extraction.typed_values import TypedValue, ValueKind, find_values
from agentic_rag.answering.verification.citations import all_quotes
from agentic_rag.language.sentences import sentence_spans
from agentic_rag.language.words.word_tables import table_of
from agentic_rag.retrieval.candidates import Passage

_INSTEAD = re.compile(
    r"\b(?:instead of|rather than|in place of|replac(?:es|ing)|no longer|(?:an)?statt|anstelle von|nicht mehr|"
    r"au lieu d(?:e\b|u\b|['’])|en (?:lugar|vez) de)\s*(?P<old>[^\s;()][^;()]{0,59})",
    re.IGNORECASE,
)
_FROM_TO = re.compile(
    r"\b(?:from|von|vom|de|du|desde)\s+(?P<old>[^\s;][^;]{0,39}?)\s+(?:to|auf|à|au|a|al|hasta)\s+(?P<new>[^;]{1,60})",
    re.IGNORECASE,
)
_CHANGES = re.compile(
    r"\b(?:mov|rais|lower|increas|decreas|reduc|chang|extend|shorten|amend|cut|ris|rose|fell|went|erhöh|steig|stieg|"
    r"gestieg|gesenk|senk|verlänger|verkürz|verschob|verschieb|geänder|änder|port|relev|augment|rédui|prolong|modifi|"
    r"pass|aument|cambi|prorrog|sub|baj)\w*",
    re.IGNORECASE,
)
"""Verbs by which something from one value to another is no span."""
_KINDS = frozenset({ValueKind.DATE, ValueKind.FIGURE, ValueKind.TIME})
_NUMBER = re.compile(r"^[\d.,\s]+")


def find_amendment(
    part: Subquery, sentences: Sequence[DraftSentence], passages: Sequence[Passage], excluded: ExcludedSpans
) -> DraftSentence | None:
    """The first sentence of another document that has something of the question and says that a value was changed of
    the quotes that have the most of it: "moved from 31 March 2026 to 31 March 2030", "2,140 pounds instead of 1,850".
    None where none says so.
    """
    quotes = all_quotes(sentences)
    home = {passages[one.passage].chunk.document_id for one in quotes}
    texts = texts_of(quotes, passages)
    held = [weight_of(mask_of(lower_text(text), part.terms), part.terms) for text in texts]
    most = max(held, default=0.0)
    told = [value for text, own in zip(texts, held, strict=True) if own == most for value in _values(text)]
    asked = _values(part.text)
    told = [one for one in told if not any(one.agrees(other) for other in asked)]
    if not told:
        return None
    for place, passage in enumerate(passages):
        chunk = passage.chunk
        if chunk.document_id in home or not (_INSTEAD.search(chunk.text) or _FROM_TO.search(chunk.text)):
            continue
        for start, end in sentence_spans(chunk.text, table_of(chunk.text)):
            said = chunk.text[start:end]
            changes = any(one.agrees(old) for old in _changed_values(said) for one in told)
            if changes and (chunk.ordinal, start) not in excluded:
                around = " ".join((chunk.document_title, *headings_above(passage, start), said))
                if mask_of(lower_text(around), part.terms):
                    return DraftSentence(0, place, start, end, format_unit(said), UnitKind.PROSE, 0.0)
    return None


def _changed_values(said: str) -> Iterator[TypedValue]:
    """The values that a sentence says are another one now, which it has too."""
    changes = [*_INSTEAD.finditer(said), *(_FROM_TO.finditer(said) if _CHANGES.search(said) else ())]
    values = _values(said) if changes else []
    for change in changes:
        old = change["old"]
        news = _values(change["new"]) if "new" in change.groupdict() else []
        unit = _NUMBER.sub("", change["new"][news[0].start : news[0].end]) if news else ""
        # "From 25 to 38 kilowatts": the first figure has the unit of the second.
        for value in _values(f"{old} {unit}" if old.rstrip()[-1].isdigit() else old)[:1]:
            if any(value.is_rival(one) for one in (*values, *news)):
                yield value


def _values(text: str) -> list[TypedValue]:
    return [one for one in find_values(text) if one.kind in _KINDS]
