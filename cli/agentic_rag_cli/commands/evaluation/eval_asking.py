"""Asks the questions of a dataset, in this process or of a server, as records that the harness scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from agentic_rag.answering.prompts.grade import Grade
from agentic_rag.answering.question import AnswerOptions, CacheMode, Question
from agentic_rag.answering.run import Run
from agentic_rag.documents.document import DocumentFilter
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.language.token_estimate import estimate_tokens
from agentic_rag.models.billing.prices import PriceTable
from agentic_rag.models.chat.request import LlmError
from agentic_rag.models.embedding.space import SpaceRecord
from agentic_rag.retrieval.fusion import FusionWeights
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_cli.client.graphql_client import GraphQLClient
from agentic_rag_cli.listing import collect
from agentic_rag_cli.output.answer_view import AnswerView, view_run
from agentic_rag_cli.session import Session
from agentic_rag_eval.judged import Judge
from agentic_rag_eval.records import Ask, AskRecord, CitedSpan, EmbeddingUsage, EvalQuestion, RetrievedSpan


def record_of(shown: AnswerView) -> AskRecord:
    """An answer as the harness scores it."""
    return AskRecord(
        answer=shown.answer,
        outcome=shown.outcome,
        citations=tuple(CitedSpan(one.source_path, one.snippet, one.verified) for one in shown.citations),
        retrieved=shown.retrieved,
        citation_coverage=shown.citation_coverage,
        seconds=shown.seconds,
        stage_seconds=shown.stage_seconds,
        run_id=shown.run_id,
    )


async def ask_here(session: Session, workspace: WorkspaceRef, weights: FusionWeights | None = None) -> Ask:
    """Asks in this process, past the cache; `weights` instead of the settings' shares of the arms."""
    documents = await collect(lambda request: session.documents(workspace, request))
    paths = {document.document_id: document.source_path for document in documents}
    ids = {path: document_id for document_id, path in paths.items()}
    spaces = await session.spaces(workspace)

    async def ask(question: EvalQuestion) -> AskRecord:
        without = DocumentFilter(without_ids=tuple(ids[path] for path in question.without if path in ids))
        options = AnswerOptions(cache=CacheMode.BYPASS, weights=weights, filter=without)
        run = await session.ask(Question(workspace, question.question, options=options))
        record = replace(record_of(view_run(run, paths)), usage=_usage(run, spaces, session.prices))
        if not question.gold_spans:
            return record
        places: dict[UUID, RetrievedSpan] = {}
        for path in question.gold_ids:
            if path in ids:
                found = await session.chunk_spans(workspace, ids[path])
                places |= {chunk_id: RetrievedSpan(path, span.start, span.end) for chunk_id, span in found.items()}
        return replace(record, spans=tuple(places.get(one.chunk_id) for one in run.answer.debug.candidates))

    return ask


def judge_here(session: Session) -> Judge:
    """Grades answers by the chat model of the settings."""

    async def judge(question: EvalQuestion, record: AskRecord) -> Grade | LlmError:
        sources = [citation.snippet for citation in record.citations]
        return await session.grade(question.question, question.answers, record.answer, sources)

    return judge


async def ask_server(client: GraphQLClient, workspace: str | None) -> Ask:
    """Asks a server, past its cache. The places of chunks and the price are not known here."""
    workspace_id = await client.workspace_id(workspace)
    paths = await client.source_paths(workspace_id)

    async def ask(question: EvalQuestion) -> AskRecord:
        if question.without:
            raise InvalidInput(
                f"{question.question_id} is asked without a document, which needs the database: leave --url out.",
                code="DATASET_INVALID",
            )
        return record_of(await client.ask(question.question, workspace_id, paths, fresh=True))

    return ask


def _usage(run: Run, spaces: Sequence[SpaceRecord], prices: PriceTable) -> EmbeddingUsage:
    """The stand-alone question, and its parts when it has several, were embedded."""
    debug = run.answer.debug
    parts = debug.plan.sub_questions if debug.plan is not None and len(debug.plan.sub_questions) > 1 else ()
    tokens = sum(map(estimate_tokens, [debug.standalone_question or run.question, *(one.text for one in parts)]))
    space = next((one.registered.space for one in spaces if one.registered.space.name == run.versions.space), None)
    price = None if space is None else prices.of_space(space)
    return EmbeddingUsage(tokens, None if price is None else price.of(tokens))
