"""No command that shows the configuration prints a password, key or token of it, however it is written."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.cli.product import Terminal

from agentic_rag.settings import variables
from agentic_rag.settings.otel import SECRETS

CANARY = "c4nary-s3cret"

WRITTEN = {
    "DATABASE_URL": (
        f"postgresql://rag:{CANARY}@127.0.0.1:1/rag",
        f"postgresql://rag:{CANARY}/x@y@127.0.0.1:1/rag",
        f"postgresql://127.0.0.1:1/rag?user=rag&password={CANARY}",
        f"host=127.0.0.1 port=1 user=rag password={CANARY}",
        f"host=127.0.0.1 port=1 password='{CANARY} two words'",
        f"rag:{CANARY}@127.0.0.1:1/rag",
    ),
    "AGENTIC_RAG_OWNER_DATABASE_URL": (f"postgresql://owner:{CANARY}@127.0.0.1:1/rag",),
    "REDIS_URL": (
        f"redis://:{CANARY}@127.0.0.1:1/0",
        f"redis://127.0.0.1:1/0?password={CANARY}",
        f":{CANARY}@127.0.0.1:1",
    ),
    "NEO4J_URI": (
        f"bolt://neo4j:{CANARY}@127.0.0.1:1",
        f"neo4j:{CANARY}@127.0.0.1:1",
        f"bolt://neo4j:{CANARY}@",
        f"bolt://neo4j:{CANARY}@127.0.0.1:port",
    ),
    "AGENTIC_RAG_BLOB_STORE": (
        f"s3://{CANARY}@bucket",
        f"s3://id:{CANARY}@bucket?endpoint=http://127.0.0.1:1",
        f"s3://id:{CANARY}/+a@bucket?endpoint=http://127.0.0.1:1&regio=x",
    ),
    "AGENTIC_RAG_TOKEN": (CANARY, f"{CANARY}{CANARY}{CANARY}"),
    "AGENTIC_RAG_JWT_SECRET": (CANARY, f"{CANARY}{CANARY}{CANARY}"),
    "AGENTIC_RAG_MASTER_KEYS": (CANARY, f"m1:{CANARY}"),
    "OPENAI_API_KEY": (CANARY,),
    "AGENTIC_RAG_URL": (f"http://x:{CANARY}@127.0.0.1:1",),
    "OPENAI_BASE_URL": (f"https://x:{CANARY}@127.0.0.1:1/v1",),
    "OTEL_EXPORTER_OTLP_ENDPOINT": (f"http://x:{CANARY}@127.0.0.1:1", f"http://127.0.0.1:1?api-key={CANARY}"),
    "AGENTIC_RAG_JWKS_URL": (f"https://x:{CANARY}@127.0.0.1:1/keys",),
    "DATABASE_READ_URL": (f"postgresql://rag:{CANARY}@127.0.0.1:1/rag",),
    "AGENTIC_RAG_SEARCH": (f"brave://{CANARY}@", f"serpapi://{CANARY}@", f"searxng://{CANARY}@127.0.0.1:1"),
    "HTTP_PROXY": (f"http://x:{CANARY}@127.0.0.1:1", f"socks5://x:{CANARY}@127.0.0.1:1"),
    "HTTPS_PROXY": (f"x:{CANARY}@127.0.0.1:1",),
    **{name: (f"authorization=Bearer {CANARY}", CANARY) for name in SECRETS},
}
COMMANDS = (
    ("config", "show"),
    ("config", "show", "--json"),
    ("doctor",),
    ("serve",),
    ("worker",),
    ("migrate", "status"),
    ("ask", "What is it?"),
)


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in WRITTEN.items() for value in values], ids=str
)
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_secret_of_the_configuration_is_not_printed(
    name: str, value: str, command: tuple[str, ...], tmp_path: Path
) -> None:
    # `doctor` starts servers of its home that have data: the home of who runs the tests may have some.
    result = Terminal(environ={"AGENTIC_RAG_HOME": str(tmp_path), name: value}).rag(*command)

    assert CANARY not in f"{result.stdout}{result.stderr}"


def test_every_setting_that_may_hold_a_secret_is_written_here() -> None:
    held = {one.name for one in variables() if one.env.is_secret or one.env.is_url}

    assert held | {*SECRETS} <= WRITTEN.keys()
