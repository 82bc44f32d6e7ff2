"""`rag serve`: settings in, a running server out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from types import CoroutineType
from typing import Any

from agentic_rag.bootstrap import Container, route_library_logs
from agentic_rag.documents.ports import BlobStore
from agentic_rag.ingestion.attachments import Attachments
from agentic_rag.kernel.clock import Clock
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.ids import Ids
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.settings import PRODUCTION, UNSET_PATH, Settings
from agentic_rag.tenancy.ports import Identity
from agentic_rag_server.run import run
from agentic_rag_server.wiring import (
    Administers,
    AdmitsRequests,
    AnswersQuestions,
    ChangesModels,
    ControlsAccess,
    DeletesDocuments,
    Evaluates,
    ExplainsRuns,
    HandlesDeadLetters,
    ManagesApiKeys,
    ManagesProviderKeys,
    ProvesErasures,
    ReadsRuns,
    ReingestsDocuments,
    SeesSpending,
    ServerOptions,
    SwitchesSpaces,
    TakesSnapshots,
    UploadsDocuments,
)


@dataclass(frozen=True, slots=True)
class ServerParts:
    """Implements `wiring.ServerContainer` with the parts of a container."""

    options: ServerOptions
    admission: AdmitsRequests
    answer: AnswersQuestions
    explain: ExplainsRuns
    delete: DeletesDocuments
    document_access: ControlsAccess
    prove_erasure: ProvesErasures
    reingest: ReingestsDocuments
    dead_letters: HandlesDeadLetters
    upload: UploadsDocuments
    attachments: Attachments
    evaluations: Evaluates
    take_snapshot: TakesSnapshots
    switch_spaces: SwitchesSpaces
    change_models: ChangesModels
    spending: SeesSpending
    provider_keys: ManagesProviderKeys
    administer: Administers
    api_keys: ManagesApiKeys
    database: Database
    read_runs: ReadsRuns
    blobs: BlobStore
    identity: Identity
    telemetry: Telemetry
    clock: Clock
    ids: Ids
    checks: Mapping[str, Callable[[], Awaitable[None]]]
    aclose: Callable[[], CoroutineType[Any, Any, None]]


def server_options(settings: Settings) -> ServerOptions:
    """What the settings say about the server."""
    return ServerOptions(
        enabled=settings.enabled,
        graphiql=settings.graphiql,
        introspection=settings.introspection,
        persisted_operations=settings.persisted_operations if settings.persisted_operations != UNSET_PATH else None,
        persisted_only=settings.persisted_only,
        behind_tls=settings.profile == PRODUCTION,
        host=settings.host,
        port=settings.port,
        max_body_bytes=settings.max_body_bytes,
        max_upload_bytes=settings.max_upload_bytes,
        drain_seconds=max(1, round(settings.drain_seconds)),
    )


def server_parts(container: Container) -> ServerParts:
    """The parts of a container that a server uses."""
    return ServerParts(
        options=server_options(container.settings),
        admission=container.admission,
        answer=container.answer,
        explain=container.explain,
        delete=container.delete,
        document_access=container.document_access,
        prove_erasure=container.prove_erasure,
        reingest=container.reingest,
        dead_letters=container.dead_letters,
        upload=container.upload,
        attachments=container.attachments,
        evaluations=container.evaluations,
        take_snapshot=container.take_snapshot,
        switch_spaces=container.switch_spaces,
        change_models=container.change_models,
        spending=container.spending,
        provider_keys=container.provider_keys,
        administer=container.administer,
        api_keys=container.api_keys,
        database=container.database,
        read_runs=container.read_runs,
        blobs=container.blobs,
        identity=container.identity,
        telemetry=container.telemetry,
        clock=container.clock,
        ids=container.ids,
        checks=container.checks,
        aclose=container.aclose,
    )


def run_server(settings: Settings) -> None:
    """Serve until SIGINT or SIGTERM. AGENTIC_RAG_TOKEN, when given, opens the default organisation.

    Starting with a database that is away, or that refuses, is no reason to stop: /readyz says what is wrong.
    Errors: `Misconfigured` (PORT_IN_USE, no DATABASE_URL).
    """

    async def open_parts() -> ServerParts:
        container = Container(settings)
        if settings.embedder == "openai":
            # Its package takes a second to import: no request should wait for that, nor all those beside it.
            _ = container.embedder
        if settings.token:
            await container.first_access.try_developer(settings.token)
        container.telemetry.event(
            "rag_server_starting",
            address=f"http://{settings.host}:{settings.port}",
            enabled=settings.enabled,
            hint=None if settings.enabled else "Questions are refused: set AGENTIC_RAG_ENABLED=true.",
        )
        return server_parts(container)

    route_library_logs(settings)
    run(open_parts, server_options(settings))
