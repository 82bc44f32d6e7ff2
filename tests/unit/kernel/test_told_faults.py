"""Faults that fail nothing, and are told in a line each."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID, uuid4

import pytest
from tests.memory_store.answering.cache import MemoryAnswerCache
from tests.memory_store.session.database import MemoryDatabase
from tests.memory_store.session.store import MemoryStore
from tests.memory_store.telemetry import RecordingTelemetry
from tests.plants import nothing

from agentic_rag import bootstrap
from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.adapters.system.ids import RandomIds
from agentic_rag.answering.hyde.queued_passages import QueuedPassages
from agentic_rag.bootstrap import Container
from agentic_rag.kernel.clock import Deadline
from agentic_rag.kernel.errors import DependencyUnavailable, NotFound, Retryable
from agentic_rag.models.billing.usage import Charge, UsageKind
from agentic_rag.models.billing.usage_ledger import UsageLedger
from agentic_rag.models.chat.request import LlmError
from agentic_rag.operations.dead_letters import DeadLetters
from agentic_rag.settings import load_settings
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.first_access import FirstAccess
from agentic_rag_server import main, run

WORKSPACE = WorkspaceRef(UUID(int=1), UUID(int=2))
AWAY = {"DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none", "REDIS_URL": "redis://127.0.0.1:1/0"}


class Away:
    """Whatever is asked of it fails."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        async def fail(*_: object, **__: object) -> None:
            raise DependencyUnavailable("It is away.", dependency="postgres")

        return fail


class DatabaseAway(Away):
    def transaction(self, *_: object) -> AbstractAsyncContextManager[Any]:
        raise DependencyUnavailable("It is away.", dependency="postgres")


@pytest.mark.tells("rag_first_access_refused")
async def test_a_process_starts_before_its_database() -> None:
    organisations: Any = Away()

    await FirstAccess(organisations, RecordingTelemetry()).try_organisation()


@pytest.mark.tells("rag_usage_unrecorded")
async def test_what_a_call_cost_waits_for_a_database_that_is_away() -> None:
    database: Any = DatabaseAway()
    ledger = UsageLedger(database, RecordingTelemetry())
    ledger.note(Charge(WORKSPACE, date(2026, 1, 1), UsageKind.CHAT, "openai", "m", False, 1, 1, 0.1))

    await ledger.flush()

    assert ledger._waiting[WORKSPACE.org_id]
    await ledger.aclose()


@pytest.mark.tells("rag_hyde_failed")
async def test_an_answer_goes_on_without_a_passage_that_nobody_can_be_asked_for() -> None:
    away: Any = Away()
    passages = QueuedPassages(away, away, away, SystemClock(), RandomIds(), RecordingTelemetry())

    written = await passages.write(WORKSPACE, "Who?", Deadline(SystemClock().monotonic() + 60))

    assert isinstance(written, LlmError)


@pytest.mark.tells("rag_replay_conflict", "job_id")
async def test_a_replay_that_meets_a_newer_job_looks_again() -> None:
    store = MemoryStore(SystemClock())
    database: Any = MemoryDatabase(store, MemoryAnswerCache(store.clock))
    conflicts, transaction = [Retryable("A newer job is being written.")], database.transaction

    def meeting(*asked: object) -> AbstractAsyncContextManager[Any]:
        if conflicts:
            raise conflicts.pop()
        return transaction(*asked)

    database.transaction = meeting
    with pytest.raises(NotFound):
        await DeadLetters(database, RecordingTelemetry()).replay(WORKSPACE, uuid4(), "ada")
    assert conflicts == []


@pytest.mark.tells("rag_setting_removed")
async def test_a_setting_that_is_no_more_does_not_stop_a_start(tmp_path: Path) -> None:
    settings = load_settings(AWAY | {"AGENTIC_RAG_FUSION": "rrf"}, dotenv=tmp_path / "none")
    container = Container(settings)

    assert container.telemetry
    await container.aclose()


@pytest.mark.tells("rag_parser_walls_missing")
async def test_walls_that_a_kernel_lacks_are_named(tmp_path: Path) -> None:
    container = Container(load_settings(AWAY, dotenv=tmp_path / "none"))

    container._report_walls(["no_new_privileges"])

    await container.aclose()


@pytest.mark.network
@pytest.mark.tells("rag_server_starting")
def test_a_server_says_where_it_listens_before_its_database_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = list[Container]()

    class Kept(Container):
        def __init__(self, *given: Any, **more: Any) -> None:
            super().__init__(*given, **more)
            made.append(self)

    def open_and_end(open_parts: Callable[[], Any], *_: object) -> None:
        async def opened() -> None:
            parts = await open_parts()
            parts.watch.cancel()
            await made[0].aclose()

        asyncio.run(opened())

    monkeypatch.setattr(main, "gc", SimpleNamespace(disable=nothing))
    monkeypatch.setattr(run, "run", open_and_end)
    for name, stand_in in (("Container", Kept), ("route_library_logs", nothing)):
        monkeypatch.setattr(bootstrap, name, stand_in)

    main.run_server(load_settings(AWAY | {"AGENTIC_RAG_HOME": str(tmp_path)}, dotenv=tmp_path / "none"))

    assert len(made) == 1
