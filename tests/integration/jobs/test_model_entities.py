"""Ingestion with a chat model that lists entities: what it finds is in the graph, what it fails for is by rule."""

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from tests.integration.jobs.data_plane import DataPlane
from tests.memory_store.compute import InlineCompute
from tests.provider_stub import Fault, ProviderStub, form_of

from agentic_rag.adapters.openai.chat import OpenAIChatModel
from agentic_rag.adapters.openai.client import open_client
from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.documents.document import DocumentStatus
from agentic_rag.ingestion.analysis.analyse import TextAnalysis
from agentic_rag.ingestion.analysis.extract_entities import ExtractEntities
from agentic_rag.ingestion.group_commit import GroupCommitPublisher
from agentic_rag.ingestion.ingest import IngestDocument
from agentic_rag.language.token_estimate import estimate_tokens
from agentic_rag.models.providers.llm_client import LlmClient
from agentic_rag.retrieval.graph.entities import entity_id_for

pytestmark = [pytest.mark.integration, pytest.mark.network]


PATIENCE = 1.5
"""Seconds; enough for two tries."""


class Hasty(SystemClock):
    """A minute passes at each look: a model that failed never rests for long."""

    def __init__(self) -> None:
        self._minutes = 0

    def monotonic(self) -> float:
        self._minutes += 1
        return 60.0 * self._minutes


@pytest.fixture
def stub() -> Iterator[ProviderStub]:
    with ProviderStub() as running:
        reply = {
            "names": [{"name": "sluice gates"}, {"name": "Loch Ness"}],
            "relations": [{"subject": "sluice gates", "relation": "made in", "object": "Port Aldery"}],
        }
        running.scribe = lambda _: json.dumps(reply)
        yield running


@pytest.fixture
async def reading(plane: DataPlane, stub: ProviderStub, folder: Path) -> AsyncIterator[DataPlane]:
    """A plane that reads entities with the model, and a document."""
    model = OpenAIChatModel(open_client(stub.base_url, stub.key, 0.5), "stub-chat")
    advisor = LlmClient(model, Hasty(), plane.ids, plane.telemetry, timeout_seconds=0.5)
    plane.__dict__["ingest"] = IngestDocument(
        plane.database, plane.blobs, plane.parser, plane.embedders, TextAnalysis(estimate_tokens, InlineCompute()),
        GroupCommitPublisher(plane.database), plane.telemetry, "small", ExtractEntities(advisor, PATIENCE),
    )  # fmt: skip
    (folder / "site.md").write_text("# Site\n\nThe lagoon has sluice gates. Its pumps came from Port Aldery.")
    yield plane
    await model.aclose()


async def knows(plane: DataPlane, key: str) -> bool:
    entity = entity_id_for(plane.workspace.workspace_id, key)
    async with plane.pool.transaction(plane.workspace.org_id) as connection:
        return bool(
            await connection.fetchval(
                "SELECT count(*) FROM rag_entities WHERE workspace_id = $1 AND entity_id = $2",
                plane.workspace.workspace_id,
                entity,
            )
        )


async def test_names_that_stand_in_the_text_are_in_the_graph_and_invented_ones_are_not(
    reading: DataPlane, stub: ProviderStub, folder: Path
) -> None:
    await reading.ingest_folder(folder)

    assert {form_of(request) for request in stub.received} == {"graph"}
    assert await knows(reading, "sluice gates")
    assert not await knows(reading, "loch ness")
    document = await reading.document("site.md")
    assert document is not None
    assert document.provenance["entities_model"] == "stub-chat"
    assert document.provenance["entities_by_rules"] == "0"


async def test_a_model_that_fails_leaves_the_entities_of_the_rules_and_says_so(
    reading: DataPlane, stub: ProviderStub, folder: Path
) -> None:
    stub.otherwise = lambda _: Fault(status=503)

    await reading.ingest_folder(folder)

    document = await reading.document("site.md")
    assert document is not None
    assert document.status is DocumentStatus.READY
    assert document.provenance["entities_by_rules"] == str(document.chunk_count)
    assert document.provenance["entities_fault"] == "PROVIDER_UNAVAILABLE"
    assert await knows(reading, "port aldery")
    assert not await knows(reading, "sluice gates")


@pytest.mark.parametrize(
    "fault",
    [Fault(status=429, headers={"retry-after": "1"}), Fault(hang=True)],
    ids=["rate limit", "no answer"],
)
async def test_a_fault_that_passes_is_waited_for(
    reading: DataPlane, stub: ProviderStub, folder: Path, fault: Fault
) -> None:
    stub.script.append(fault)

    await reading.ingest_folder(folder)

    document = await reading.document("site.md")
    assert document is not None
    assert document.status is DocumentStatus.READY
    assert document.provenance["entities_by_rules"] == "0"
    assert document.provenance["entities_fault"] == ""
    assert await knows(reading, "sluice gates")


async def test_a_key_that_is_rejected_is_not_tried_again(reading: DataPlane, stub: ProviderStub, folder: Path) -> None:
    stub.otherwise = lambda _: Fault(status=401)

    await reading.ingest_folder(folder)

    document = await reading.document("site.md")
    assert document is not None
    assert document.provenance["entities_fault"] == "PROVIDER_KEY_REJECTED"
    assert len(stub.received) == document.chunk_count
