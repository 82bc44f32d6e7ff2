"""Measuring the scale of similarity thresholds over GraphQL: it holds from the next search on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from agentic_rag.adapters.deterministic.embedder import DeterministicEmbedder
from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.ingestion.analysis.analyse import TextAnalysis
from agentic_rag.ingestion.ingest_chunks import IngestChunks, PlainTextDocument
from agentic_rag.kernel.public_ids import encode_workspace
from agentic_rag.language.token_estimate import estimate_tokens
from agentic_rag.models.providers.embedder_registry import only
from agentic_rag.operations.calibrate import CalibrateSupport
from agentic_rag.operations.calibrate_similarity import CalibrateSimilarity
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.settings import WorkspaceSettings
from agentic_rag.workspaces.workspace import WorkspaceKind
from tests.api.builders import ORG, WORKSPACE, Container, query
from tests.memory_store.compute import InlineCompute
from tests.memory_store.session.database import MemoryDatabase
from tests.memory_store.session.store import MemoryStore
from tests.memory_store.workspaces.organisations import MemoryOrganisations

KEY = encode_workspace(WORKSPACE)
REF = WorkspaceRef(ORG, WORKSPACE)
MEASURED = "calibration { exponent questions thresholds { threshold recall precision } } userErrors { code path }"
CALIBRATE = f"mutation($input: CalibrateSimilarityInput!) {{ calibrateSimilarity(input: $input) {{ {MEASURED} }} }}"
RESET = "mutation($id: ID!) { resetSimilarity(workspaceId: $id) { done } }"
IN_FORCE = "query($id: ID!) { workspace(id: $id) { similarityCalibration { exponent } } }"
THINGS = [f"{kind} {number}" for kind in ("pump", "valve", "crane", "mill", "winch") for number in (7, 12, 30, 41)]


@pytest.fixture
async def container() -> Container:
    store = MemoryStore(SystemClock())
    database, embedders = MemoryDatabase(store), only(DeterministicEmbedder())
    await MemoryOrganisations(store).ensure_organisation(ORG, "ours")
    async with database.transaction(ORG) as transaction:
        await transaction.workspaces.create(WORKSPACE, "ours", WorkspaceKind.GENERAL, None, WorkspaceSettings())
    ingest = IngestChunks(database, embedders, TextAnalysis(estimate_tokens, InlineCompute()))
    texts = [PlainTextDocument(f"{one}.md", one, f"The {one} is serviced in March by the crew.") for one in THINGS]
    await ingest.run(REF, [await ingest.cut(text, "default") for text in texts], "test", lambda _: None)
    made = Container(database=database)
    made.calibrate_support = CalibrateSupport(database, made.telemetry)
    made.calibrate_similarity = CalibrateSimilarity(database, embedders, made.clock, made.telemetry)
    return made


class NothingOfSigns(DeterministicEmbedder):
    """Gives zeros for a text without letters, as some providers do."""

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        said = np.array([[any(map(str.isalpha, text))] for text in texts])
        return (await super().embed(texts)) * said.astype(np.float32)


async def calibrate(container: Container, few: int = 20, **more: Any) -> dict[str, Any]:
    asked = [{"question": f"When is the {one} serviced?", "goldIds": [f"{one}.md"]} for one in THINGS[:few]]
    return await calibrate_on(container, asked, **more)


async def calibrate_on(container: Container, asked: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    body = await query(container, CALIBRATE, {"input": {"workspaceId": KEY, "questions": asked, **more}})
    return body["data"]["calibrateSimilarity"]


async def exponents(container: Container) -> tuple[Any, float | None]:
    shown = (await query(container, IN_FORCE, {"id": KEY}))["data"]["workspace"]["similarityCalibration"]
    head = await container.database.head(REF)
    return shown, head.similarity_exponent


async def test_a_measured_scale_holds_until_it_is_reset(container: Container) -> None:
    trial = (await calibrate(container, dryRun=True))["calibration"]
    before = await exponents(container)
    found = (await calibrate(container))["calibration"]
    within = await exponents(container)
    await container.calibrate_support.reset(REF, "test")
    after_support = await exponents(container)
    await query(container, RESET, {"id": KEY})

    assert found == trial
    assert found["questions"] == 20
    assert all(one["recall"] > 0.5 for one in found["thresholds"])
    assert before == (None, None)
    assert within == after_support == ({"exponent": found["exponent"]}, found["exponent"])
    assert await exponents(container) == (None, None)


async def test_too_few_questions_are_refused(container: Container) -> None:
    refused = await calibrate(container, few=3)

    assert refused["userErrors"] == [{"code": "DATASET_INVALID", "path": ["input", "questions"]}]


async def test_a_question_without_words_is_near_to_nothing_and_left_out(container: Container) -> None:
    embedders = only(NothingOfSigns())
    container.calibrate_similarity = CalibrateSimilarity(
        container.database, embedders, container.clock, container.telemetry
    )
    asked = [{"question": f"When is the {one} serviced?", "goldIds": [f"{one}.md"]} for one in THINGS]
    wordless = {"question": "?!", "goldIds": [f"{THINGS[0]}.md"]}

    found = await calibrate_on(container, [*asked, wordless])

    assert found["userErrors"] == []
    assert found["calibration"]["questions"] == len(asked)
