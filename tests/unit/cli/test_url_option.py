"""`--url`: commands that need nothing but GraphQL ask the server that it names, and nothing in this process."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest
import typer.main
from tests.unit.cli.product import Terminal

from agentic_rag_cli.client.url_option import BY_GRAPHQL
from agentic_rag_cli.main import app

URL = "http://127.0.0.1:1"
ID = "00000000-0000-0000-0000-000000000001"
ARGUMENTS: dict[str, list[str]] = {
    "explain": [ID],
    "usage": [],
    "audit export": [],
    "budget set": ["--day", "5"],
    "doc show": ["a.md"],
    "doc share": ["a.md", "--everyone"],
    "doc writers": ["a.md", "group:people"],
    "doc transfer": ["a.md", "user:ada"],
    "doc withdraw": ["a.md"],
    "doc restore": ["a.md"],
    "doc reingest": ["a.md"],
    "embeddings switch": ["--to", "deterministic", "--wait"],
    "key create": ["ci"],
    "key revoke": [ID],
    "provider-key remove": ["openai"],
    "run show": [ID],
    "run replay": [ID],
    "template save": ["rules", "--heading", "## Rules"],
    "template delete": ["rules"],
    "tenant rename": ["acme", "new"],
    "tenant delete": ["acme", "--yes"],
    "workspace rename": ["handbook", "new"],
    "workspace delete": ["handbook", "--yes"],
    "workspace prove-erased": [ID],
    "workspace create": ["handbook"],
    "workspace keep": ["handbook"],
}
COMMANDS = [f"{group} {name}".strip() for group, names in BY_GRAPHQL.items() for name in names]


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


def test_the_option_is_in_the_help_of_each() -> None:
    root: Any = typer.main.get_command(app)
    for command in COMMANDS:
        found = root
        for word in command.split():
            found = found.commands[word]
        assert "--url" in [name for option in found.params for name in option.opts], command
