"""Finds pages of the web that stand alone against independent sources: anybody can write a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agentic_rag.answering.extraction.candidate_units import CandidateUnit, Subquery
from agentic_rag.answering.extraction.contradiction import answers_differ, asks_for_date, contradicts
from agentic_rag.answering.plan import AnswerType
from agentic_rag.documents.document import Chunk
from agentic_rag.documents.web_pages import page_host
from agentic_rag.retrieval.candidates import Passage

MIN_VOICES = 2
"""Independent sources that contradict a page before it is left out."""
MOST_UNITS = 24
"""Units, best first, that are compared with each other."""


def find_outvoted(
    passages: Sequence[Passage],
    part: Subquery,
    stated: Callable[[CandidateUnit], str],
    make_units: Callable[[], Sequence[CandidateUnit]],
) -> frozenset[int]:
    """Passages of pages each of whose source alone says what at least two independent ones contradict. A site is one
    source however many pages it has; so is a document of the workspace's own. Nothing is compared without pages.
    """
    hosts = [page_host(one.chunk.source_path, one.chunk.url) for one in passages]
    if not any(hosts):
        return frozenset()
    kind = part.answer_type
    about_dates = kind is AnswerType.DATE or asks_for_date(part.text)
    units = list({(one.passage, one.start): one for one in make_units()}.values())[:MOST_UNITS]
    said = [(one.passage, _source(passages[one.passage].chunk, hosts[one.passage]), stated(one)) for one in units]
    against: dict[str, set[str]] = {}
    for _, source, quote in said:
        for _, other, rival in said:
            if source != other and (
                contradicts(quote, rival, kind, about_dates=about_dates)
                or answers_differ(quote, rival, part.text, kind)
            ):
                against.setdefault(source, set()).add(other)
    alone = {
        source
        for source, others in against.items()
        # Those that are contradicted by it alone back each other.
        if len([one for one in others if against.get(one, set()) <= {source}]) >= MIN_VOICES
    }
    return frozenset(
        place for place, host in enumerate(hosts) if host is not None and _source(passages[place].chunk, host) in alone
    )


def _source(chunk: Chunk, host: str | None) -> str:
    return str(chunk.document_id) if host is None else host
