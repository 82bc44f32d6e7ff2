"""Embedding spaces through GraphQL."""

from tests.api.builders import WORKSPACE_ID, Container, document_id, numbered, query

SWITCH = """
mutation($input: SwitchEmbeddingSpaceInput!) {
  switchEmbeddingSpace(input: $input) { space { name state done total } jobId userErrors { code path } }
}
"""
CANCEL = """
mutation($ws: ID!) { cancelEmbeddingSwitch(workspaceId: $ws) { space { state dropAfter } userErrors { code } } }
"""
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
