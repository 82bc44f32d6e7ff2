"""`rag eval calibrate --url`: a server's worker does it, and the command shows what came of it."""

from collections.abc import Sequence
from typing import Any

import pytest

from agentic_rag.kernel.errors import AgenticRagError, NotFound
from agentic_rag_cli.client import queries
from agentic_rag_cli.commands.evaluation import calibrate as command

LINE = {"kind": None, "threshold": 0.3, "questions": 200, "bound": 0.0497, "abstained": 8, "low": 0.017, "high": 0.077}
FOUND = {
    "space": "onnx/m/384/half", "inForce": True, "error": 0.05, "pooled": LINE,
    "kinds": [{**LINE, "kind": "value", "threshold": 0.28}],
}  # fmt: skip


class Server:
    """A GraphQL client whose job goes through `states`."""

    def __init__(self, states: Sequence[str], **found: Any) -> None:
        self.states = list(states)
        self.found = {"calibration": None, "calibrationTrial": None, **found}
        self.sent: list[tuple[str, dict[str, Any]]] = []

    async def workspace_id(self, name: str | None) -> str:
        return f"id of {name}"

    async def fetch(self, document: str, **variables: Any) -> Any:
        self.sent.append((document, variables))
        if document == queries.CALIBRATE:
            return {"job": {"id": "j"}}
        if document == queries.CALIBRATION:
            return self.found
        state = self.states.pop(0)
        return {"state": state, "progress": 3, "errorCode": "CORPUS_TOO_SMALL", "errorMessage": "too few"}


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "POLL_SECONDS", 0.0)


async def test_the_command_waits_for_the_job_and_shows_what_is_in_force() -> None:
    server = Server(["QUEUED", "RUNNING", "DONE"], calibration=FOUND)

    shown = await command.calibrate_there(server, "w", 0.05, dry_run=False)  # type: ignore[arg-type]

    assert server.sent[0] == (queries.CALIBRATE, {"workspaceId": "id of w", "error": 0.05, "dryRun": False})
    assert (shown["threshold"], shown["kept"], shown["space"]) == (0.3, True, FOUND["space"])
    assert shown["false_abstention"] == {"share": 0.04, "low": 0.017, "high": 0.077, "questions": 200}
    assert [one["kind"] for one in shown["kinds"]] == ["value"]


async def test_a_trial_shows_the_trial() -> None:
    server = Server(["DONE"], calibration=FOUND, calibrationTrial={**FOUND, "inForce": False, "error": 0.1})

    shown = await command.calibrate_there(server, None, 0.1, dry_run=True)  # type: ignore[arg-type]

    assert (shown["error"], shown["kept"]) == (0.1, False)


async def test_a_job_that_gives_up_is_the_error_of_the_command() -> None:
    with pytest.raises(AgenticRagError, match="too few") as refused:
        await command.calibrate_there(Server(["RUNNING", "DEAD"]), "w", 0.05, dry_run=False)  # type: ignore[arg-type]
    assert refused.value.code == "CORPUS_TOO_SMALL"
    with pytest.raises(NotFound, match="reset meanwhile"):
        await command.calibrate_there(Server(["DONE"]), "w", 0.05, dry_run=False)  # type: ignore[arg-type]
