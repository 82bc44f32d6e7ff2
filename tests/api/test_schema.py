"""The committed schema, the query page, and what a server process imports."""

import re
import subprocess
import sys

import pytest
from graphql import build_schema as read_schema
from graphql import parse, print_schema, validate

from agentic_rag.answering.question import MAX_HISTORY_TURNS, MAX_QUESTION_CHARACTERS
from agentic_rag_server.graphql.export import SCHEMA_FILE, schema_text
from agentic_rag_server.graphql.http.limits import Limits, parse_within
from agentic_rag_server.graphql.ide.page import QueryPage
from agentic_rag_server.parts import ServerOptions
from tests.api.builders import Container, client

HEAVY = (
    "neo4j",
    "openai",
    "sqlalchemy",
    "alembic",
    "pypdf",
    "opentelemetry.sdk",
    "opentelemetry.exporter",
    "grpc",
    "asyncpg",
    "redis",
    "numpy.f2py",
)
NOT_FOR_SERVING = (*(one for one in HEAVY if one not in ("asyncpg", "redis")), "httpcore2", "boto3", "botocore")
"""With all that it is wired to."""
PAGE = {"accept": "text/html,application/xhtml+xml"}


def test_the_committed_schema_is_the_schema_of_the_code() -> None:
    assert SCHEMA_FILE.read_text(encoding="utf-8") == schema_text(), (
        "run `python -m agentic_rag_server.graphql.export` and commit the file"
    )


def test_the_schema_is_valid_and_states_its_bounds() -> None:
    schema = read_schema(SCHEMA_FILE.read_text(encoding="utf-8"))
    text = print_schema(schema)

    assert "code points" in text
    assert f"1 to {MAX_QUESTION_CHARACTERS}" in text
    assert f"at most {MAX_HISTORY_TURNS}" in text


def test_every_type_and_argument_speaks_of_workspaces_never_of_organisations() -> None:
    text = re.sub(r'""".*?"""', "", SCHEMA_FILE.read_text(encoding="utf-8"), flags=re.DOTALL)

    assert not re.search(r"(?i)\borg(anisation|anization)?Id\b", text)
    assert not re.search(r"(?i)(?:embedding|vector)s?:\s*\[|\[Float", text), "the API never returns vectors"


@pytest.fixture(scope="module")
def imported() -> list[set[str]]:
    """What a server process has imported before its first request: by itself, and with all that it is wired to."""
    code = (
        "import sys, agentic_rag_server.run, agentic_rag.adapters.telemetry.facade as facade\n"
        "facade.ProcessTelemetry(facade.TelemetryOptions())\n"
        "print(*sys.modules)\n"
        "import agentic_rag.bootstrap\n"
        "print(*sys.modules)"
    )
    environment = {"PYTHONPATH": ":".join(path for path in sys.path if path)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True, timeout=60
    )
    return [set(line.split()) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("module", HEAVY)
def test_a_server_process_does_not_import(imported: list[set[str]], module: str) -> None:
    assert "agentic_rag_server.run" in imported[0]
    assert module not in imported[0]


@pytest.mark.parametrize("module", NOT_FOR_SERVING)
def test_a_wired_server_process_does_not_import(imported: list[set[str]], module: str) -> None:
    assert "agentic_rag.bootstrap.container" in imported[1]
    assert module not in imported[1]


async def test_the_query_page_is_off_unless_asked_for() -> None:
    async with client(Container(), token=None) as http:
        response = await http.get("/graphql", headers=PAGE)

    assert response.status_code == 406


async def test_the_query_page_works_with_no_other_address() -> None:
    container = Container(options=ServerOptions(enabled=True, query_page=True))
    async with client(container, token=None) as http:
        first = await http.get("/graphql", headers=PAGE)
        second = await http.get("/graphql", headers=PAGE)

    policy = first.headers["content-security-policy"]
    (nonce,) = set(re.findall(r"'nonce-([^']+)'", policy))
    assert first.status_code == 200
    assert "default-src 'none'" in policy
    assert "connect-src 'self'" in policy
    assert nonce not in second.text
    assert first.text.count(f'nonce="{nonce}"') == 2
    assert not re.search(r"https?://|//cdn|@import|\ssrc=", first.text)
    assert not re.search(r"\son\w+=", first.text)


def test_the_documents_of_the_query_page_are_valid_and_within_the_limits() -> None:
    page = QueryPage().response().body.decode()
    schema = read_schema(schema_text())
    start = page.split("const START = `")[1].split("`")[0]
    reference = page.split('const REF = "')[1].split('"')[0]
    introspection = page.split("const INTROSPECTION = `")[1].split("`")[0].replace("${REF}", reference)

    for document in (start, introspection):
        assert validate(schema, parse_within(document, Limits())) == []
        assert parse(document)


async def test_the_query_page_still_answers_get_queries() -> None:
    container = Container(options=ServerOptions(enabled=True, query_page=True))
    async with client(container) as http:
        response = await http.get("/graphql", params={"query": "{ __typename }"}, headers=PAGE | {"accept": "*/*"})

    assert response.json() == {"data": {"__typename": "Query"}}
