"""The register of processes while Postgres is away: tried each second, and told once."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.memory_store.telemetry import RecordingTelemetry
from tests.waiting import eventually

from agentic_rag.adapters.postgres.erasure import process_register
from agentic_rag.adapters.postgres.erasure.process_register import ProcessRegister
from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.erasure.process_memory import ProcessMemory


@pytest.mark.network
@pytest.mark.tells("rag_process_unregistered")
async def test_an_outage_is_told_once_however_often_it_is_tried(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(process_register, "RETRY_SECONDS", 0.0)
    tries = 0

    class Memory(ProcessMemory):
        def drop(self, workspace: object) -> None:
            nonlocal tries
            tries += 1

    telemetry = RecordingTelemetry()
    register = ProcessRegister(f"postgresql:///none?host={tmp_path}", Memory(), SystemClock(), telemetry, "test")
    register.start()

    async def tried_often() -> bool:
        return tries >= 5

    await eventually(tried_often, "five tries")
    await register.aclose()

    assert [one.name for one in telemetry.events] == ["rag_process_unregistered"]
