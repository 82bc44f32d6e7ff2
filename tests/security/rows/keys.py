"""Rows on the keys that organisations bring: they reach the provider, and nothing else ever holds one."""

from __future__ import annotations

import base64
import contextlib
import io
import json
import secrets
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import asyncpg
import redis.asyncio

from agentic_rag_migrations.catalogue import TABLES
from tests.bench.reports import Row, exactly
from tests.otlp_receiver import receiving_otlp
from tests.own_keys import Product, Tenant, running, settings_for
from tests.provider_stub import Fault, ProviderStub, Received
from tests.security.ground import Ground
from tests.security.table import Measure
from tests.stored_words import rows_as_text

CANARIES = 50
SHORT = 4
SHAPES = ("sk-proj-{}", "AIza{}", "gsk_{}", "plain{}words", "0123:{}")
TEXT = "# Valves\n\nThe relief valve opens at 3 bar. It is tested every May by the crew.\n"
QUESTION = "At which pressure does the relief valve open?"
SHOWN = 4
"""Characters of a key that may be shown."""

JOBS = "query Jobs($id: ID!) { jobs(workspaceId: $id) { nodes { errorMessage attemptHistory { errorChain } } } }"
KEYS = "query { providerKeys { provider hint baseUrl setBy } }"
INLINE = """
mutation {{
  setProviderKey(input: {{ provider: OPENAI, key: "{}", baseUrl: "http://x" }}) {{ userErrors {{ message }} }}
}}
"""


def canaries(count: int) -> list[str]:
    """Keys of several providers' shapes, each with a part that is nowhere else."""
    return [SHAPES[place % len(SHAPES)].format(secrets.token_hex(16)) for place in range(count)]


def misbehave(request: Received) -> Fault:
    """A provider that repeats the key it was given, in every way it can fail."""
    key = request.headers["authorization"].removeprefix("Bearer ")
    place = sum(map(ord, key)) % 4
    status = (None, 401, 400, 500)[place]
    return Fault() if status is None else Fault(status=status, message=f"the key {key} ({key[:20]}…) is no good")


async def canary_keys(ground: Ground, short: bool) -> list[Row]:
    """Organisations store, use and lose keys; then everything that is kept or shown is searched for them."""
    keys = canaries(SHORT if short else CANARIES)
    database_url = await ground.servers().new_database()
    redis_url = ground.servers().stack.redis_url
    with (
        ProviderStub(dimensions=1536) as stub,
        tempfile.TemporaryDirectory() as home,
        captured() as log,
        open_to_read(Path(home)),
        receiving_otlp() as spans,
    ):
        stub.otherwise = misbehave
        stub.accepts_any_key = True
        settings = settings_for(database_url, redis_url, Path(home), stub)
        async with running(settings.change(operations={"otlp_endpoint": spans.endpoint})) as it:
            for key in keys:
                await one_life(it, key)
            metrics = it.container.telemetry.exposition()[0].decode()
            shown = "\n".join(it.bodies)
        places = {
            "tables": await dump(database_url),
            "Redis": await contents(redis_url),
            "logs": log.getvalue(),
            "metrics": metrics,
            "exports": spans.text(),
            "answers and errors": shown,
            "files": "\n".join(path.read_bytes().decode("latin-1") for path in Path(home).rglob("*") if path.is_file()),
        }
        used = {request.headers["authorization"].removeprefix("Bearer ") for request in stub.received}
    found = {name: sum(holds(text, key) for key in keys) for name, text in places.items()}
    rows = [exactly("canary keys that reached their provider", len(used & set(keys)), len(keys))]
    rows += [exactly(f"canary keys in {name}", count, 0) for name, count in found.items()]
    rows.append(
        Row("places searched hold something", str(sum(map(bool, places.values()))), "all", all(places.values()))
    )
    return rows


async def one_life(product: Product, key: str) -> None:
    """Store a key, once in a way that is refused; upload, ask, look, and replace it."""
    tenant: Tenant = await product.tenant()
    await tenant.query(INLINE.format(key))
    await tenant.bring(key)
    workspace = await tenant.workspace()
    uploaded = await tenant.upload(workspace, TEXT)
    await tenant.ended(uploaded.json()["id"])
    await tenant.ask(workspace, QUESTION)
    await tenant.query(KEYS)
    await tenant.query(JOBS, id=workspace)


def holds(text: str, key: str) -> bool:
    """Whether a text has a key but for the characters that may be shown, as it is, in hex or in base64."""
    secret = key[:-SHOWN]
    return any(
        form in text
        for form in (secret, secret.encode().hex(), base64.b64encode(secret.encode())[:-4].decode(), secret[6:26])
    )


async def dump(database_url: str) -> str:
    """Every row of every table, as text."""
    server = await asyncpg.connect(database_url)
    try:
        rows = [row for table in TABLES for row in await rows_as_text(server, table)]
    finally:
        await server.close()
    return "\n".join(rows)


async def contents(redis_url: str) -> str:
    """Every key of Redis with what it holds."""
    client = redis.asyncio.Redis.from_url(redis_url)
    found: list[bytes] = [b"keys:"]
    try:
        async for name in client.scan_iter():
            found.append(name)
            match (await client.type(name)).decode():
                case "string":
                    found.append(await client.get(name) or b"")
                case "hash":
                    found += [part for item in (await client.hgetall(name)).items() for part in item]
                case "list":
                    found += await client.lrange(name, 0, -1)
                case "set":
                    found += await client.smembers(name)
                case "zset":
                    found += await client.zrange(name, 0, -1)
                case "stream":
                    found.append(json.dumps(await client.xrange(name), default=str).encode())
                case other:
                    raise AssertionError(f"Redis holds a {other}, which nobody searches")
    finally:
        await client.aclose()
    return b"\n".join(found).decode("latin-1")


@contextlib.contextmanager
def captured() -> Iterator[io.StringIO]:
    """What is written to standard error while the block lasts."""
    before, sys.stderr = sys.stderr, io.StringIO()
    try:
        yield sys.stderr
    finally:
        sys.stderr = before


@contextlib.contextmanager
def open_to_read(home: Path) -> Iterator[None]:
    """Parsing children of another account read below `home`."""
    home.chmod(0o755)
    yield


ROWS: Mapping[str, Measure] = {"canary-keys": canary_keys}
