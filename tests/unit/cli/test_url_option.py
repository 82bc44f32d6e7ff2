"""`--url`: every command asks the server that it names, and nothing in this process, but for those that are local."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx2
import pytest
import typer.testing
from tests.unit.cli.product import Terminal

from agentic_rag.kernel.errors import InvalidInput
from agentic_rag_cli.client.ids import require_address
from agentic_rag_cli.client.url_option import LOCAL, leaves, takes_url
from agentic_rag_cli.main import app

URL = "http://127.0.0.1:1"
ID = "00000000-0000-0000-0000-000000000001"
FILE = str(Path(__file__))
ARGUMENTS: dict[str, list[str]] = {
    "ingest": [str(Path(__file__).parent)],
    "upload": [FILE],
    "ask": ["Who signs?"],
    "search": ["audit"],
    "context": ["audit"],
    "explain": [ID],
    "crawl": ["https://example.org/"],
    "search-web": ["audit"],
    "gate explain": [ID],
    "gate report": ["--since", "2026-11-01"],
    "report marketing": ["--brand", "Acme"],
    "gate replay": ["--since", "2026-11-01"],
    "gate cases": ["--since", "2026-11-01"],
    "budget set": ["--day", "5"],
    "doc show": ["a.md"],
    "doc share": ["a.md", "--everyone"],
    "doc writers": ["a.md", "group:people"],
    "doc transfer": ["a.md", "user:ada"],
    "doc withdraw": ["a.md"],
    "doc restore": ["a.md"],
    "doc reingest": ["a.md"],
    "embeddings calibrate": ["--reset"],
    "embeddings switch": ["--to", "deterministic", "--wait"],
    "tenant create": ["acme"],
    "tenant show": ["acme"],
    "tenant set": ["acme", "--feature", "ragGuidelines=on"],
    "tenant limits": ["acme"],
    "key create": ["ci"],
    "key revoke": [ID],
    "template save": ["rules", "--heading", "## Rules"],
    "template delete": ["rules"],
    "tenant rename": ["acme", "new"],
    "tenant delete": ["acme", "--yes"],
    "workspace share": ["handbook", "--reader", "user:ada"],
    "workspace rename": ["handbook", "new"],
    "workspace delete": ["handbook", "--yes"],
    "workspace prove-erased": [ID],
    "tenant prove-erased": [ID],
    "workspace create": ["handbook"],
    "workspace keep": ["handbook"],
    "workspace passages": ["handbook"],
    "workspace web": ["handbook", "--allow"],
    "doc set": ["a.md", "--tag", "hr"],
    "doc chunks": ["a.md"],
    "doc delete": ["a.md"],
    "doc prove-erased": ["a.md"],
    "source add": ["docs", "directory", "/srv/docs"],
    "source status": ["docs"],
    "source sync": ["docs"],
    "source remove": ["docs"],
    "run show": [ID],
    "run cancel": [ID],
    "run delete": [ID],
    "cite show": [ID, "1"],
    "cite source": [ID, "1"],
    "thread show": [ID],
    "saved add": [ID],
    "saved remove": [ID],
    "thread rename": [ID, "The lease"],
    "thread delete": [ID],
    "run replay": [ID],
    "run diff": [ID, ID],
    "run verify": [ID],
    "prove": [ID],
    "run rate": [ID, "--good"],
    "job show": [ID],
    "job cancel": [ID],
    "snapshot show": [ID],
    "snapshot restore": [ID],
    "snapshot delete": [ID],
    "dlq show": [ID],
    "dlq replay": [ID],
    "dlq purge": [ID],
    "provider-key set": ["openai"],
    "provider-key remove": ["openai"],
    "eval report": [ID],
    "eval calibrate": ["--reset"],
}
SERVED_APART = {"mcp", "eval"}
"""`rag mcp` speaks MCP (tests/api/test_mcp_bridge.py), `rag eval` asks one by one (test_evaluation_command.py)."""


def every_command() -> dict[str, Any]:
    root: Any = typer.main.get_command(app)
    return dict(leaves(root.commands))


COMMANDS = sorted(every_command().keys() - LOCAL.keys() - SERVED_APART)


class Refusing:
    """A server that knows nobody, and what it was asked."""

    def __init__(self) -> None:
        self.asked: list[httpx2.Request] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.asked.append(request)
        return httpx2.Response(401, json={"errors": [{"message": "no", "extensions": {"code": "UNAUTHENTICATED"}}]})


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_asks_the_server_that_was_named(command: str) -> None:
    server = Refusing()
    at = Terminal(environ={"AGENTIC_RAG_TOKEN": "secret"}, transport=httpx2.MockTransport(server))

    shown = at.rag(*command.split(), *ARGUMENTS.get(command, []), "--url", URL)

    assert "UNAUTHENTICATED" in shown.stderr, shown.output
    assert {f"{one.url.scheme}://{one.url.host}:{one.url.port}" for one in server.asked} == {URL}


@pytest.mark.parametrize("environ", [{"AGENTIC_RAG_TOKEN": "secret"}, {}], ids=["token", "no token"])
@pytest.mark.parametrize("command", COMMANDS)
def test_an_address_that_is_none_is_refused_by_its_option_whatever_else_is_missing(
    command: str, environ: dict[str, str], tmp_path: Path
) -> None:
    at = Terminal(environ={**environ, "AGENTIC_RAG_HOME": str(tmp_path)})

    shown = at.rag(*command.split(), *ARGUMENTS.get(command, []), "--url", "no\taddress")

    assert shown.exit_code == 2, shown.output
    assert shown.stderr.startswith("error [URL_INVALID]: ")
    assert "--url" in shown.stderr


@pytest.mark.parametrize("address", ["nope", "user:", "http://", "http://h:x", "http://h\x1b[31m", "postgresql://h/x"])
def test_what_is_no_address(address: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        require_address(address)

    assert refused.value.code == "URL_INVALID"
    assert require_address("https://rag.example.org:8443/graphql")


def test_an_organisation_beside_a_server_is_refused() -> None:
    server = Refusing()
    at = Terminal(environ={"AGENTIC_RAG_TOKEN": "secret"}, transport=httpx2.MockTransport(server))

    shown = at.rag("key", "list", "--tenant", "acme", "--url", URL)

    assert (shown.exit_code, server.asked) == (2, [])


def test_what_a_server_answers_is_shown() -> None:
    one: dict[str, Any] = {
        "id": "Vw", "name": "handbook", "kind": "GENERAL", "externalRef": None, "corpusVersion": 1, "createdAt": "now",
    }  # fmt: skip
    transport = httpx2.MockTransport(lambda _: httpx2.Response(200, json={"data": {"workspaces": [one]}}))
    at = Terminal(environ={"AGENTIC_RAG_TOKEN": "secret"}, transport=transport)

    shown = at.rag("workspace", "list", "--url", URL, "--json")

    assert [found["name"] for found in json.loads(shown.stdout)] == ["handbook"]


def test_a_command_without_the_option_is_declared_local_with_its_reason() -> None:
    commands = every_command()

    assert {name for name, command in commands.items() if not takes_url(command)} == LOCAL.keys()
    assert all(reason.endswith(".") for reason in LOCAL.values())
