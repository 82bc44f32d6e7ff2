"""Redacts answers whose sources were erased, or that the reader may not read."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from dataclasses import replace
from uuid import UUID

from agentic_rag.answering.answer import Answer, AnswerDebug, Citation, Outcome, TextSpan
from agentic_rag.answering.gate_decision import Directives, GateDecision
from agentic_rag.answering.run import Run
from agentic_rag.answering.tools.registry import DOCUMENT_NAMING_TOOLS
from agentic_rag.retrieval.candidates import CandidateTrace, Hop

SOURCE_ERASED = "source erased"
"""Stands where the words of an erased document stood."""

SOURCE_WITHHELD = "source withheld"
"""Stands where an answer stood that cites a document hidden from its reader."""

ANSWER_UNREADABLE = "stored by another version of the product, which can read it (RUN_UNREADABLE)"
"""Stands in a list where an answer stands that this version cannot read."""


def has_lost_words(answer: Answer) -> bool:
    """Whether the answer stands without its words: a document that it used was erased, or is hidden from the reader, or
    this version cannot read it.
    """
    return answer.text in (SOURCE_ERASED, SOURCE_WITHHELD, ANSWER_UNREADABLE)


def unreadable_answer(outcome: str) -> Answer:
    """What a list shows for an answer that this version cannot read: no word of it, since nobody can tell who may read
    it. An outcome that this version does not know is shown as `ABSTAINED`.
    """
    known = next((one for one in Outcome if one.value == outcome), Outcome.ABSTAINED)
    nothing = GateDecision(Directives(use_retrieval=False), "skip", 0.0, {}, (), (), "", "off")
    return Answer(ANSWER_UNREADABLE, known, None, (), (), nothing, AnswerDebug())


def collect_document_ids(answer: Answer) -> frozenset[UUID]:
    """Every document whose words or title an answer may contain: cited, nearest, a candidate, or named by a tool."""
    nearest = answer.abstention.nearest if answer.abstention else ()
    passages = (*answer.citations, *nearest, *answer.debug.candidates)
    return frozenset(
        [passage.document_id for passage in passages]
        + [one for passage in passages for hop in passage.path for one in (hop.from_document_id, hop.to_document_id)]
        + [call.document_id for call in answer.debug.tool_calls if call.document_id is not None]
    )


def redact_document(answer: Answer, document_id: UUID) -> Answer:
    """The answer without the words of one document.

    The whole text goes, because any sentence may depend on the document. So does all of `debug` that is made of
    retrieved text, with the plan and the stand-alone question, which may repeat words of an earlier answer. Citations
    of other documents keep their quotation but support no sentence any more.
    """
    candidates = tuple(
        replace(
            candidate,
            title=SOURCE_ERASED if candidate.document_id == document_id else candidate.title,
            path=_visible_path(candidate.path, (document_id,)),
        )
        for candidate in answer.debug.candidates
    )
    return _without_text(answer, SOURCE_ERASED, lambda cited: _redact_citations(cited, document_id), candidates)


def redact_erased_documents(run: Run, erased: Container[UUID]) -> Run:
    """The run without the words of documents that were erased while it was under way."""
    answer = run.answer
    for document_id in sorted(collect_document_ids(answer)):
        if document_id in erased:
            answer = redact_document(answer, document_id)
    return run if answer is run.answer else replace(run, answer=answer)


def withhold_documents(run: Run, hidden: Container[UUID]) -> Run:
    """The run for a reader who may not read some documents. Unlike an erasure it does not name them: their citations
    and candidates are left out, and the answer loses the same parts as in `redact_document`.
    """
    answer = run.answer
    if not any(document_id in hidden for document_id in collect_document_ids(answer)):
        return run
    candidates = tuple(
        replace(candidate, path=_visible_path(candidate.path, hidden))
        for candidate in answer.debug.candidates
        if candidate.document_id not in hidden
    )
    shown = _without_text(answer, SOURCE_WITHHELD, lambda cited: _visible_citations(cited, hidden), candidates)
    return replace(run, answer=shown)


def drop_unnamed_results(answer: Answer) -> Answer:
    """The answer without results that name a document and were stored without its id: nobody knows who may read it."""
    calls = tuple(
        replace(call, result=None) if call.tool in DOCUMENT_NAMING_TOOLS and call.document_id is None else call
        for call in answer.debug.tool_calls
    )
    return (
        answer if calls == answer.debug.tool_calls else replace(answer, debug=replace(answer.debug, tool_calls=calls))
    )


def _without_text(
    answer: Answer,
    placeholder: str,
    redact: Callable[[tuple[Citation, ...]], tuple[Citation, ...]],
    candidates: tuple[CandidateTrace, ...],
) -> Answer:
    abstention = answer.abstention
    if abstention is not None:
        abstention = replace(abstention, explanation=placeholder, nearest=redact(abstention.nearest))
    return replace(
        answer,
        text=placeholder,
        abstention=abstention,
        citations=redact(answer.citations),
        debug=AnswerDebug(search=answer.debug.search, candidates=candidates),
    )


def _visible_citations(citations: Iterable[Citation], hidden: Container[UUID]) -> tuple[Citation, ...]:
    return tuple(
        replace(citation, answer_spans=(), path=_visible_path(citation.path, hidden))
        for citation in citations
        if citation.document_id not in hidden
    )


def _visible_path(path: tuple[Hop, ...], hidden: Container[UUID]) -> tuple[Hop, ...]:
    """A path over a hidden document is removed whole: its entities may be the document's words."""
    return () if any(hop.from_document_id in hidden or hop.to_document_id in hidden for hop in path) else path


def _redact_citations(citations: Iterable[Citation], document_id: UUID) -> tuple[Citation, ...]:
    return tuple(
        _redact_citation(citation)
        if citation.document_id == document_id
        else replace(citation, answer_spans=(), path=_visible_path(citation.path, (document_id,)))
        for citation in citations
    )


def _redact_citation(citation: Citation) -> Citation:
    return replace(
        citation,
        title=SOURCE_ERASED,
        source_path=SOURCE_ERASED,
        url=None,
        snippet=SOURCE_ERASED,
        source_span=TextSpan(0, 0),
        answer_spans=(),
        heading_path=(),
        verified=False,
        path=(),
    )
