"""Embedding spaces through GraphQL, and what a switch would cost through REST."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from agentic_rag.adapters.deterministic.embedder import DETERMINISTIC_SPACE, DeterministicEmbedder
from agentic_rag.ingestion.analysis.analyse import TextAnalysis
from agentic_rag.ingestion.ingest_chunks import ChunkedDocument, IngestChunks
from agentic_rag.language.token_estimate import estimate_tokens
from agentic_rag.models.billing.prices import PriceTable, TokenPrice
from agentic_rag.models.embedding.space import EmbeddingSpace
from agentic_rag.models.providers.embedder_registry import EmbedderRegistry
from tests.api.builders import REF, WORKSPACE_ID, Container, client, document_id, numbered, query
from tests.api.rest_product import rest_product
from tests.memory_store.compute import InlineCompute

SWITCH = """
mutation($input: SwitchEmbeddingSpaceInput!) {
  switchEmbeddingSpace(input: $input) { space { name state done total } jobId userErrors { code path } }
}
"""
CANCEL = """
mutation($ws: ID!) { cancelEmbeddingSwitch(workspaceId: $ws) { space { state dropAfter } userErrors { code } } }
"""
ESTIMATE = f"/v1/workspaces/{WORKSPACE_ID}/embeddings/estimate"
ESTIMATE_QUERY = """
query($ws: ID!, $to: String!) {
  estimateEmbeddingSwitch(workspaceId: $ws, to: $to) { space chunks tokens reusedChunks costUsd }
}
"""
PASSAGES = ("The pump lifts water.", "The crane lifts stones.")
SPACES = "query($ws: ID!) { embeddingSpaces(workspaceId: $ws) { name state dimensions verdict { before } } }"


async def test_a_switch_begins_with_a_job_and_shows_how_far_it_is() -> None:
    container = Container()

    body = await query(container, SWITCH, {"input": {"workspaceId": WORKSPACE_ID, "to": "openai:m:8"}})

    payload = body["data"]["switchEmbeddingSpace"]
    assert payload["space"] == {"name": "openai/m/8/half", "state": "FILLING", "done": 0, "total": 3}
    assert payload["jobId"]
    assert payload["userErrors"] == []
    shown = await query(container, SPACES, {"ws": WORKSPACE_ID})
    assert [one["state"] for one in shown["data"]["embeddingSpaces"]] == ["ACTIVE", "FILLING"]


async def test_a_gate_names_documents_by_path_or_by_public_id() -> None:
    container = Container()
    gate = {"questions": [{"question": "who?", "goldIds": ["a.md", document_id(1)]}], "k": 5}

    await query(container, SWITCH, {"input": {"workspaceId": WORKSPACE_ID, "to": "openai:m:8", "gate": gate}})

    assert container.switch_spaces.gate is not None
    assert container.switch_spaces.gate.questions[0].gold == ("a.md", str(numbered(1)))
    assert (container.switch_spaces.gate.k, container.switch_spaces.gate.tolerance) == (5, 0.0)


async def test_what_cannot_be_switched_to_is_a_user_error() -> None:
    gate = {"questions": []}
    unknown = await query(Container(), SWITCH, {"input": {"workspaceId": WORKSPACE_ID, "to": "cohere"}})
    empty = await query(Container(), SWITCH, {"input": {"workspaceId": WORKSPACE_ID, "to": "openai:m:8", "gate": gate}})

    assert unknown["data"]["switchEmbeddingSpace"]["userErrors"] == [{"code": "SPACE_UNKNOWN", "path": ["to"]}]
    assert empty["data"]["switchEmbeddingSpace"]["userErrors"] == [{"code": "GATE_INVALID", "path": ["gate"]}]


async def test_a_switch_is_called_off_once() -> None:
    container = Container()
    await query(container, SWITCH, {"input": {"workspaceId": WORKSPACE_ID, "to": "openai:m:8"}})

    first = await query(container, CANCEL, {"ws": WORKSPACE_ID})
    second = await query(container, CANCEL, {"ws": WORKSPACE_ID})

    assert first["data"]["cancelEmbeddingSwitch"]["space"]["state"] == "ABANDONED"
    assert second["data"]["cancelEmbeddingSwitch"]["userErrors"] == [{"code": "SWITCH_NOT_FOUND"}]


async def test_a_viewer_switches_nothing_and_strangers_see_nothing() -> None:
    container = Container()
    variables = {"input": {"workspaceId": WORKSPACE_ID, "to": "openai:m:8"}}

    viewer = await query(container, SWITCH, variables, token="viewer-token")
    stranger = await query(container, SWITCH, variables, token="other-token")

    assert viewer["errors"][0]["extensions"]["code"] == "FORBIDDEN"
    assert stranger["data"]["switchEmbeddingSpace"]["userErrors"][0]["code"] == "WORKSPACE_NOT_FOUND"
    assert container.switch_spaces.filling is None


class UnaskedEmbedder:
    """Of a space that nothing is embedded in here."""

    batch_size = 8

    def __init__(self, space: EmbeddingSpace) -> None:
        self.space = space

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        raise AssertionError("an estimate embeds nothing")

    async def aclose(self) -> None:
        """Nothing to release."""


async def priced_product() -> Any:
    """The REST product, whose workspace holds two passages, with a provider whose model has a price."""
    product: Any = await rest_product()
    embedders = EmbedderRegistry(
        DeterministicEmbedder(), UnaskedEmbedder, {"deterministic": lambda: DETERMINISTIC_SPACE}
    )
    ingest = IngestChunks(product.database, embedders, TextAnalysis(estimate_tokens, InlineCompute()))
    await ingest.run(REF, [ChunkedDocument("a.md", "a", PASSAGES)], "tests")
    product.switch_spaces = replace(
        product.switch_spaces, embedders=embedders, prices=PriceTable({"dear": TokenPrice(2.0)})
    )
    return product


async def test_rest_tells_what_another_model_would_cost_as_graphql_does() -> None:
    product = await priced_product()
    tokens = sum(map(estimate_tokens, PASSAGES))

    async with client(product) as http:
        dear = await http.get(ESTIMATE, params={"to": "openai:dear:8"})
        same = await http.get(ESTIMATE, params={"to": "deterministic"})
    told = await query(product, ESTIMATE_QUERY, {"ws": WORKSPACE_ID, "to": "openai:dear:8"})

    assert (dear.status_code, same.status_code) == (200, 200)
    assert (dear.json()["chunks"], dear.json()["tokens"]) == (2, tokens)
    assert dear.json()["costUsd"] == pytest.approx(tokens * 2 / 1e6)
    assert dear.json() == told["data"]["estimateEmbeddingSwitch"]
    assert (same.json()["chunks"], same.json()["costUsd"]) == (0, 0.0)


@pytest.mark.parametrize("wish", [{}, {"to": "cohere"}, {"to": "openai:dear:0"}])
async def test_rest_refuses_models_that_are_none(wish: dict[str, str]) -> None:
    async with client(await priced_product()) as http:
        refused = await http.get(ESTIMATE, params=wish)

    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "SPACE_UNKNOWN")


@pytest.mark.parametrize(
    ("token", "status", "code"),
    [
        ("member-token", 403, "FORBIDDEN"),
        ("viewer-token", 403, "FORBIDDEN"),
        ("other-token", 404, "WORKSPACE_NOT_FOUND"),
        (None, 401, "UNAUTHENTICATED"),
    ],
)
async def test_rest_tells_the_estimate_to_admins_of_the_organisation_only(
    token: str | None, status: int, code: str
) -> None:
    async with client(await priced_product(), token) as http:
        refused = await http.get(ESTIMATE, params={"to": "deterministic"})

    assert (refused.status_code, refused.json()["error"]["code"]) == (status, code)
