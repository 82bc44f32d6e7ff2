"""Asks the questions of a dataset, in this process or through a server, and returns records for the harness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import TYPE_CHECKING, Any
from uuid import UUID

from agentic_rag.answering.prompts.grade import Grade, grade_prompt
from agentic_rag.answering.question import AnswerOptions, CacheMode, Question
from agentic_rag.answering.run import Run
from agentic_rag.documents.document import DocumentFilter, SpanRequest
from agentic_rag.jobs.job import JobKind
from agentic_rag.kernel.errors import InvalidInput, Misconfigured
from agentic_rag.kernel.public_ids import NodeKind, encode
from agentic_rag.language.token_estimate import estimate_tokens
from agentic_rag.models.billing.prices import PriceTable
from agentic_rag.models.chat.request import LlmError
from agentic_rag.models.embedding.space import SpaceRecord
from agentic_rag.retrieval.fusion_options import FusionWeights
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_cli.client import queries
from agentic_rag_cli.client.graphql_client import GraphQLClient
from agentic_rag_cli.in_process import collect, in_transaction, operator_of
from agentic_rag_eval.calibration_job import CalibrateWorkspace
from agentic_rag_eval.citations import covered
from agentic_rag_eval.harness import Judge
from agentic_rag_eval.job import Examiner, RunEvaluation
from agentic_rag_eval.records import Ask, AskRecord, CitedSpan, EmbeddingUsage, EvalQuestion, RetrievedSpan
from agentic_rag_worker.job_handlers import Handler

if TYPE_CHECKING:
    from agentic_rag.bootstrap import Container


def record_of(run: Run, paths: Mapping[UUID, str]) -> AskRecord:
    """A run of this process as a record; `paths` maps the documents of its candidates to source paths."""
    answer = run.answer
    retrieved = dict.fromkeys(paths[one.document_id] for one in answer.debug.candidates if one.document_id in paths)
    return AskRecord(
        answer=answer.text,
        outcome=answer.outcome.value,
        citations=tuple(CitedSpan(one.source_path, one.snippet) for one in answer.citations),
        retrieved=tuple(retrieved),
        citation_coverage=_coverage(answer.text, {one.marker: one.snippet for one in answer.citations}),
        seconds=run.seconds,
        stage_seconds={stage.stage: stage.seconds for stage in run.stages},
        run_id=encode(NodeKind.RUN, run.workspace.workspace_id, run.run_id),
    )


def _coverage(text: str, quotes: Mapping[int, str]) -> float:
    values = covered(text, quotes)
    return fmean(values) if values else 0.0


async def ask_here(container: Container, workspace: WorkspaceRef, weights: FusionWeights | None = None) -> Ask:
    """Ask in this process, without the answer cache; `weights` replaces the settings' arm weights."""
    documents = in_transaction(
        container.database, workspace.org_id, lambda tx, page: tx.documents.page(workspace, page)
    )
    paths = {document.document_id: document.source_path for document in await collect(documents)}
    ids = {path: document_id for document_id, path in paths.items()}
    spaces = await container.switch_spaces.spaces(workspace)
    principal = operator_of(workspace.org_id)

    async def ask(question: EvalQuestion) -> AskRecord:
        without = DocumentFilter(without_ids=tuple(ids[path] for path in question.without if path in ids))
        options = AnswerOptions(cache=CacheMode.BYPASS, weights=weights, filter=without)
        run = await container.answer.ask(principal, Question(workspace, question.question, options=options))
        record = _with_quotes(record_of(run, paths), await _are_stored(container, run))
        record = replace(record, usage=_usage(run, spaces, container.settings.models.prices))
        if not question.gold_spans:
            return record
        places: dict[UUID, RetrievedSpan] = {}
        for path in question.gold_ids:
            if path in ids:
                async with container.database.transaction(workspace.org_id) as transaction:
                    visible = await transaction.documents.visible_chunks(workspace, ids[path])
                places |= {one.chunk_id: RetrievedSpan(path, one.start, one.end) for one in visible}
        return replace(record, spans=tuple(places.get(one.chunk_id) for one in run.answer.debug.candidates))

    return ask


async def _are_stored(container: Container, run: Run) -> list[bool]:
    """Whether each quote is the stored text at its place, or stands in the page that was fetched for the answer.

    What the answer says of its own citations is not read.
    """
    citations, spans = run.answer.citations, [one.source_span for one in run.answer.citations]
    pages = {one.revision_id: one.text for one in run.answer.debug.fetched}
    async with container.database.snapshot(run.workspace) as snapshot:
        found = await snapshot.documents.revision_spans(
            [SpanRequest(one.revision_id, span.start, span.end) for one, span in zip(citations, spans, strict=True)]
        )
    texts = [
        pages.get(one.revision_id, "")[span.start : span.end] if stored is None else stored.text
        for one, span, stored in zip(citations, spans, found, strict=True)
    ]
    return [bool(text) and text == one.snippet for one, text in zip(citations, texts, strict=True)]


def judge_here(container: Container) -> Judge:
    """Grade answers with the chat model of the settings."""

    async def judge(question: EvalQuestion, record: AskRecord) -> Grade | LlmError:
        llm = container.llm_client
        if llm is None:
            raise Misconfigured(
                "AGENTIC_RAG_ENABLE_LLM_JUDGE needs a chat model: set AGENTIC_RAG_CHAT_MODEL.", code="JUDGE_MISSING"
            )
        sources = [citation.snippet for citation in record.citations]
        result = await llm.ask_within(
            lambda nonce: grade_prompt(question.question, question.answers, record.answer, sources, nonce),
            container.settings.models.timeout_seconds,
        )
        return result if isinstance(result, LlmError) else result.value

    return judge


def evaluation_bodies(container: Container) -> Mapping[JobKind, Handler]:
    """The job handlers of evaluations and calibrations. They ask questions as `rag eval` does."""

    async def examine(workspace: WorkspaceRef) -> Examiner:
        judge = judge_here(container) if container.settings.models.enable_llm_judge else None
        return Examiner(await ask_here(container, workspace), judge)

    calibrate = calibration_here(container)
    return {
        # The slowest single step is the answer of a chat model with its judge.
        JobKind.EVAL: Handler(RunEvaluation(container.database, examine).run, 86_400.0, 300.0),
        JobKind.CALIBRATE: Handler(calibrate.run, 3_600.0, 300.0),
    }


def calibration_here(container: Container) -> CalibrateWorkspace:
    """The use case of calibrations, which asks in this process and stores no run."""

    async def ask(workspace: WorkspaceRef, question: EvalQuestion) -> float | None:
        asked = Question(workspace, question.question, options=AnswerOptions(cache=CacheMode.BYPASS))
        run = await container.unrecorded_answer.ask(operator_of(workspace.org_id), asked)
        support = run.answer.debug.support
        return None if support is None else support.score

    default = container.settings.answering.min_support
    return CalibrateWorkspace(container.calibrate_support, ask, container.clock, default)


async def ask_server(client: GraphQLClient, workspace: str | None) -> Ask:
    """Ask a server, without its answer cache. Places of chunks and the price are unknown here."""
    workspace_id = await client.workspace_id(workspace)
    documents = await client.nodes(queries.DOCUMENT_PATHS, workspaceId=workspace_id)
    paths = {one["id"]: one["sourcePath"] for one in documents}

    async def ask(question: EvalQuestion) -> AskRecord:
        if question.without:
            raise InvalidInput(
                f"{question.question_id} is asked without a document, which needs the database: leave --url out.",
                code="DATASET_INVALID",
            )
        run = await client.ask(question.question, workspace_id, options={"cache": "BYPASS"})
        return _with_quotes(_record_of(run, paths), await _are_stored_there(client, run["id"]))

    return ask


async def _are_stored_there(client: GraphQLClient, run_id: str) -> list[bool]:
    """As `_are_stored`, by the texts that the server gives."""
    run = await client.fetch(queries.QUOTES, id=run_id)
    version, pages = run["versions"]["corpusVersion"], [one["text"] for one in run["debug"]["fetchedPages"]]
    found: list[bool] = []
    for one in run["citations"]:
        start, end, quote = one["sourceSpan"]["start"], one["sourceSpan"]["end"], one["snippet"]
        is_there = any(text[start:end] == quote for text in pages)
        if not is_there:
            document = await client.fetch(queries.TEXT_AT, id=one["documentId"], start=start, end=end, asOf=version)
            is_there = document is not None and document["text"]["text"] == quote
        found.append(bool(quote) and is_there)
    return found


def _with_quotes(record: AskRecord, are_stored: Sequence[bool]) -> AskRecord:
    citations = zip(record.citations, are_stored, strict=True)
    return replace(record, citations=tuple(replace(one, is_stored=stored) for one, stored in citations))


def _record_of(run: Mapping[str, Any], paths: Mapping[str, str]) -> AskRecord:
    """A run of a server as a record."""
    debug = run["debug"]
    sources = (one["sourceId"] for one in debug["candidates"])
    return AskRecord(
        answer=run["answer"],
        outcome=run["outcome"],
        citations=tuple(CitedSpan(one["sourcePath"], one["snippet"]) for one in run["citations"]),
        retrieved=tuple(dict.fromkeys(paths[one] for one in sources if one in paths)),
        citation_coverage=_coverage(run["answer"], {one["marker"]: one["snippet"] for one in run["citations"]}),
        seconds=run["seconds"],
        stage_seconds={stage["stage"]: stage["seconds"] for stage in run["stages"]},
        run_id=run["id"],
    )


def _usage(run: Run, spaces: Sequence[SpaceRecord], prices: PriceTable) -> EmbeddingUsage:
    """The embedding usage of a run: the stand-alone question, and its parts when it has several."""
    debug = run.answer.debug
    parts = debug.plan.sub_questions if debug.plan is not None and len(debug.plan.sub_questions) > 1 else ()
    tokens = sum(map(estimate_tokens, [debug.standalone_question or run.question, *(one.text for one in parts)]))
    space = next((one.registered.space for one in spaces if one.registered.space.name == run.versions.space), None)
    price = None if space is None else prices.of_space(space)
    return EmbeddingUsage(tokens, None if price is None else price.of(tokens))
