"""Which switches of a workspace's embedding space may begin; what they do is tested on a real data plane."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from types import SimpleNamespace
from typing import Any, cast
from uuid import uuid4

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.memory_store.answering.cache import MemoryAnswerCache
from tests.memory_store.compute import InlineCompute
from tests.memory_store.session.database import MemoryDatabase
from tests.memory_store.session.store import MemoryStore
from tests.memory_store.telemetry import RecordingTelemetry

from agentic_rag.adapters.deterministic.embedder import DETERMINISTIC_SPACE, DeterministicEmbedder
from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.ingestion.analysis.analyse import TextAnalysis
from agentic_rag.ingestion.ingest_chunks import ChunkedDocument, IngestChunks
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.language.token_estimate import estimate_tokens
from agentic_rag.models.billing.prices import PriceTable, TokenPrice
from agentic_rag.models.embedding.space import EmbeddingSpace, SpaceState
from agentic_rag.models.providers.embedder_registry import EmbedderRegistry
from agentic_rag.operations.measure_switch import MeasureSwitch
from agentic_rag.operations.switch_embedding import SwitchEmbedding
from agentic_rag.retrieval.fusion_options import FusionWeights
from agentic_rag.retrieval.retrieve import Retrieve
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.settings import WorkspaceSettings
from agentic_rag.workspaces.workspace import WorkspaceKind

DAY = timedelta(days=1)


class NoEmbedder:
    """Of a space that nothing is embedded in here."""

    batch_size = 8

    def __init__(self, space: EmbeddingSpace) -> None:
        self.space = space

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.zeros((len(texts), self.space.dimensions), np.float32)

    async def aclose(self) -> None:
        """Nothing to release."""


async def test_a_space_that_could_answer_at_once_waits_for_the_switch_that_is_under_way() -> None:
    store = MemoryStore(SystemClock())
    database = MemoryDatabase(store, MemoryAnswerCache(store.clock))
    embedders = EmbedderRegistry(DeterministicEmbedder(), NoEmbedder, {"deterministic": lambda: DETERMINISTIC_SPACE})
    measurement = MeasureSwitch(database, embedders, Retrieve(RecordingTelemetry()), FusionWeights())
    switch = SwitchEmbedding(database, embedders, measurement, RecordingTelemetry(), DAY)
    workspace = WorkspaceRef(uuid4(), uuid4())
    async with database.transaction(workspace.org_id) as transaction:
        await transaction.workspaces.create(
            workspace.workspace_id, "w", WorkspaceKind.GENERAL, None, WorkspaceSettings()
        )
    await switch.begin(workspace, "deterministic", None)
    second = await switch.begin(workspace, "openai:second:8", None)
    async with database.transaction(workspace.org_id) as transaction:
        await transaction.spaces.activate(workspace, second.record.registered.space_id, DAY)
    await switch.begin(workspace, "openai:third:8", None)

    with pytest.raises(InvalidInput) as refused:
        await switch.begin(workspace, "deterministic", None)

    assert refused.value.code == "SWITCH_UNDER_WAY"
    assert [one.state for one in await switch.spaces(workspace)] == [
        SpaceState.RETIRED,
        SpaceState.ACTIVE,
        SpaceState.FILLING,
    ]
    await switch.cancel(workspace)
    assert (await switch.begin(workspace, "deterministic", None)).version is not None


async def test_a_switch_is_estimated_by_the_passages_that_it_would_embed() -> None:
    store = MemoryStore(SystemClock())
    database = MemoryDatabase(store, MemoryAnswerCache(store.clock))
    embedders = EmbedderRegistry(DeterministicEmbedder(), NoEmbedder, {"deterministic": lambda: DETERMINISTIC_SPACE})
    measurement = MeasureSwitch(database, embedders, Retrieve(RecordingTelemetry()), FusionWeights())
    prices = PriceTable({"second": TokenPrice(2.0)})
    switch = SwitchEmbedding(database, embedders, measurement, RecordingTelemetry(), DAY, prices)
    workspace = WorkspaceRef(uuid4(), uuid4())
    async with database.transaction(workspace.org_id) as transaction:
        await transaction.workspaces.create(
            workspace.workspace_id, "w", WorkspaceKind.GENERAL, None, WorkspaceSettings()
        )
    texts = ("The pump lifts water.", "The crane lifts stones.")
    ingest = IngestChunks(database, embedders, TextAnalysis(estimate_tokens, InlineCompute()))
    await ingest.run(workspace, [ChunkedDocument("a.md", "a", texts)], "tests")

    other = await switch.estimate(workspace, "openai:second:8")
    same = await switch.estimate(workspace, "deterministic")

    tokens = sum(map(estimate_tokens, texts))
    assert (other.chunks, other.tokens, other.cost_usd) == (2, tokens, pytest.approx(tokens * 2 / 1e6))
    assert (same.chunks, same.tokens, same.cost_usd) == (0, 0, 0.0)
    assert [one.state for one in await switch.spaces(workspace)] == [SpaceState.ACTIVE]
    with pytest.raises(InvalidInput) as refused:
        await switch.estimate(workspace, "openai:unknown")
    assert refused.value.code == "SPACE_UNKNOWN"


async def test_an_erasure_waits_for_a_batch_of_a_switch_and_not_for_the_switch() -> None:
    store = MemoryStore(SystemClock())
    database = MemoryDatabase(store, MemoryAnswerCache(store.clock))
    told: list[str] = []

    @contextmanager
    def reading(_: WorkspaceRef) -> Generator[None]:
        told.append("in")
        yield
        told.append("out")

    class Watched(NoEmbedder):
        batch_size = 1

        async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            told.append("embeds")
            return await super().embed(texts)

    embedders = EmbedderRegistry(DeterministicEmbedder(), Watched, {"deterministic": lambda: DETERMINISTIC_SPACE})
    measurement = MeasureSwitch(database, embedders, Retrieve(RecordingTelemetry()), FusionWeights())
    switch = SwitchEmbedding(database, embedders, measurement, RecordingTelemetry(), DAY, reading=reading)
    workspace = WorkspaceRef(uuid4(), uuid4())
    async with database.transaction(workspace.org_id) as transaction:
        await transaction.workspaces.create(
            workspace.workspace_id, "w", WorkspaceKind.GENERAL, None, WorkspaceSettings()
        )
    ingest = IngestChunks(database, embedders, TextAnalysis(estimate_tokens, InlineCompute()))
    texts = ("The pump lifts water.", "The crane lifts stones.")
    await ingest.run(workspace, [ChunkedDocument("a.md", "a", texts)], "tests")
    begun = await switch.begin(workspace, "openai:other:8", None)
    assert begun.job is not None
    async with database.transaction(workspace.org_id) as transaction:
        lease = await transaction.jobs.lease(begun.job, "test", timedelta(minutes=5))
    assert lease is not None

    await switch.run(lease, cast("Any", SimpleNamespace(advance=lambda: told.append("step"))))

    assert told[:8] == ["in", "embeds", "out", "step"] * 2
    assert told.count("in") == told.count("out")
    assert told[-1] == "out"
