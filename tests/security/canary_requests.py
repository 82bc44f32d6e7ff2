"""The mix of requests that tenants with secret words send, and what is looked for in each answer."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx2

from agentic_rag_server.graphql.schema import build_schema
from tests.security.canary_world import CANARY, QUESTION, CanaryWorld, Tenant, upload
from tests.security.rows.foreign_ids import selection

AT_ONCE = 32
CANCELLED_SHARE = 0.1
LONGEST_PATIENCE_SECONDS = 0.06
"""A client that gives up does so at a random time below this: most answers take 5 to 50 ms."""
FOREIGN_SHARE = 0.2
"""Requests about something that takes an id, made with an id of somebody else."""
UPLOADS_FROM = 0.6
"""Documents change only after this share of the requests: until then all tenants are at the same corpus version."""

Send = Callable[[CanaryWorld, Tenant, Tenant, random.Random], Awaitable[httpx2.Response]]

_SCHEMA = build_schema()._schema
assert _SCHEMA.query_type is not None
_FIELDS = _SCHEMA.query_type.fields


def _query(name: str, declared: str, passed: str, depth: int = 3) -> str:
    return f"query({declared}) {{ {name}({passed}) {selection(_FIELDS[name].type, depth)} }}"


DEBUG = """
mutation Ask($input: RagAnswerInput!) {
  ragAnswer(input: $input) {
    answer outcome run { id question answer } userErrors { code message }
    abstention { reason nearest { title snippet sourcePath } }
    citations { title snippet sourcePath chunkId document { id title sourcePath fileName } }
    debug { rewrittenQuery standaloneQuestion candidates { title chunkId } toolCalls { tool argument result } }
  }
}
"""
BY_ID = {
    "document": _query("document", "$id: ID!", "id: $id"),
    "run": _query("run", "$id: ID!", "id: $id", 2),
    "job": _query("job", "$id: ID!", "id: $id", 2),
    "workspace": _query("workspace", "$id: ID!", "id: $id", 2),
}
NODE = """
query($id: ID!) { node(id: $id) { __typename id ... on Document { title sourcePath }
  ... on Run { question answer citations { snippet title } } ... on Job { errorMessage document { title } } } }
"""
EXPLAIN = """
query($id: ID!, $chunks: [ID!]) { explainRun(runId: $id, whyNot: $chunks) {
  run { question answer } searches whyNot { __typename chunkId } candidates { __typename } } }
"""
LISTS = {
    name: _query(name, "$id: ID!", "workspaceId: $id", 3) for name in ("documents", "jobs", "deadLetters", "snapshots")
}
RUNS = """
query($id: ID!) { runs(workspaceId: $id, first: 20) { nodes { id question answer citations { title snippet } } } }
"""
INVALID = "GRAPHQL_INVALID"
LOOKUPS = ("Open valves.md", "Show the document valves.md", "What is the secret word of the house?")


async def _graphql(world: CanaryWorld, tenant: Tenant, document: str, **variables: Any) -> httpx2.Response:
    body = {"query": document, "variables": variables}
    return await world.http.post("/graphql", json=body, headers=tenant.headers)


async def _ask(
    world: CanaryWorld, tenant: Tenant, question: str, cache: str = "DEFAULT", **more: Any
) -> httpx2.Response:
    asked = {"question": question, "workspaceId": tenant.workspace, "options": {"cache": cache}, **more}
    response = await _graphql(world, tenant, DEBUG, input=asked)
    payload = (response.json().get("data") or {}).get("ragAnswer") or {}
    if payload.get("run"):
        tenant.runs.append(payload["run"]["id"])
        tenant.chunks += [one["chunkId"] for one in payload["citations"]]
    return response


async def ask_shared(world: CanaryWorld, tenant: Tenant, _: Tenant, __: random.Random) -> httpx2.Response:
    return await _ask(world, tenant, QUESTION)


async def ask_shared_uncached(world: CanaryWorld, tenant: Tenant, _: Tenant, __: random.Random) -> httpx2.Response:
    return await _ask(world, tenant, QUESTION, "BYPASS")


async def ask_refreshing(world: CanaryWorld, tenant: Tenant, _: Tenant, __: random.Random) -> httpx2.Response:
    return await _ask(world, tenant, QUESTION, "REFRESH")


async def ask_secret(world: CanaryWorld, tenant: Tenant, _: Tenant, drawn: random.Random) -> httpx2.Response:
    return await _ask(world, tenant, drawn.choice(LOOKUPS), drawn.choice(("DEFAULT", "BYPASS")))


async def ask_new(world: CanaryWorld, tenant: Tenant, _: Tenant, drawn: random.Random) -> httpx2.Response:
    """A question that several tenants may ask at the same moment, and that no cache has yet."""
    return await _ask(world, tenant, f"Which secret word belongs to relief valve number {drawn.randrange(400)}?")


async def ask_there(world: CanaryWorld, tenant: Tenant, other: Tenant, _: random.Random) -> httpx2.Response:
    """In the workspace of somebody else."""
    asked = {"question": QUESTION, "workspaceId": other.workspace}
    return await _graphql(world, tenant, DEBUG, input=asked)


async def ask_after(world: CanaryWorld, tenant: Tenant, other: Tenant, drawn: random.Random) -> httpx2.Response:
    """A follow-up on a run, one's own or another's."""
    runs = (other if drawn.random() < FOREIGN_SHARE else tenant).runs
    if not runs:
        return await ask_shared(world, tenant, other, drawn)
    return await _ask(world, tenant, "Who calls it so?", after=drawn.choice(runs[-20:]))


async def ask_wrong(world: CanaryWorld, tenant: Tenant, _: Tenant, drawn: random.Random) -> httpx2.Response:
    """What ends in an error."""
    options = drawn.choice(({"topK": 0}, {"minScore": 7}, {"timeoutMs": 1}, {"cache": "NEVER"}))
    asked = {"question": QUESTION, "workspaceId": tenant.workspace, "options": options}
    return await _graphql(world, tenant, DEBUG, input=asked)


async def read_by_id(world: CanaryWorld, tenant: Tenant, other: Tenant, drawn: random.Random) -> httpx2.Response:
    owner = other if drawn.random() < FOREIGN_SHARE else tenant
    kind = drawn.choice(sorted(BY_ID))
    known = {"document": owner.documents, "run": owner.runs, "job": owner.jobs, "workspace": [owner.workspace]}[kind]
    if not known:
        return await ask_shared(world, tenant, other, drawn)
    return await _graphql(world, tenant, BY_ID[kind], id=drawn.choice(known[-20:]))


async def read_node(world: CanaryWorld, tenant: Tenant, other: Tenant, drawn: random.Random) -> httpx2.Response:
    owner = other if drawn.random() < FOREIGN_SHARE else tenant
    known = drawn.choice([some for some in (owner.documents, owner.runs, owner.jobs, owner.chunks) if some])
    return await _graphql(world, tenant, NODE, id=drawn.choice(known[-20:]))


async def read_source(world: CanaryWorld, tenant: Tenant, other: Tenant, drawn: random.Random) -> httpx2.Response:
    owner = other if drawn.random() < FOREIGN_SHARE else tenant
    return await world.http.get(f"/v1/documents/{drawn.choice(owner.documents)}/source", headers=tenant.headers)


async def read_status(world: CanaryWorld, tenant: Tenant, other: Tenant, drawn: random.Random) -> httpx2.Response:
    """By REST; sometimes with one's own workspace in front of the document of another."""
    place, owner = [other if drawn.random() < FOREIGN_SHARE else tenant for _ in range(2)]
    url = f"/v1/workspaces/{place.workspace}/documents/{drawn.choice(owner.documents)}"
    return await world.http.get(url, headers=tenant.headers)


async def explain(world: CanaryWorld, tenant: Tenant, other: Tenant, drawn: random.Random) -> httpx2.Response:
    owner, named = [other if drawn.random() < FOREIGN_SHARE else tenant for _ in range(2)]
    if not owner.runs:
        return await ask_shared(world, tenant, other, drawn)
    return await _graphql(world, tenant, EXPLAIN, id=drawn.choice(owner.runs[-20:]), chunks=named.chunks[-1:])


async def list_things(world: CanaryWorld, tenant: Tenant, other: Tenant, drawn: random.Random) -> httpx2.Response:
    owner = other if drawn.random() < FOREIGN_SHARE else tenant
    return await _graphql(world, tenant, drawn.choice((RUNS, RUNS, *LISTS.values())), id=owner.workspace)


async def read_metrics(world: CanaryWorld, _: Tenant, __: Tenant, ___: random.Random) -> httpx2.Response:
    return await world.http.get("/metrics")


async def change_document(world: CanaryWorld, tenant: Tenant, _: Tenant, drawn: random.Random) -> httpx2.Response:
    """A new version of the corpus: caches begin anew."""
    name = f"more-{drawn.randrange(3)}.md"
    text = f"# More\n\nBeside {tenant.canary} stands valve number {drawn.random()}.\n"
    return await upload(world, tenant, name, text)


MIX: Mapping[Send, int] = {
    ask_shared: 22,
    ask_shared_uncached: 8,
    ask_refreshing: 3,
    ask_secret: 10,
    ask_new: 8,
    ask_there: 3,
    ask_after: 5,
    ask_wrong: 3,
    read_by_id: 10,
    read_node: 8,
    read_source: 4,
    read_status: 6,
    explain: 5,
    list_things: 6,
    read_metrics: 1,
}


@dataclass
class Seen:
    """What came back over a run, and what of it nobody should have seen."""

    sent: int = 0
    answered: int = 0
    cancelled: int = 0
    statuses: Counter[int] = field(default_factory=Counter[int])
    kinds: Counter[str] = field(default_factory=Counter[str])
    own: int = 0
    invalid: int = 0
    """Operations that do not fit the schema: they would prove nothing."""
    foreign: list[str] = field(default_factory=list[str])
    faults: list[str] = field(default_factory=list[str])
    """Answers of 500 and over but refusals."""
    refused: int = 0
    """Answers of 503 that say when to come again."""

    def take(self, tenant: Tenant, kind: str, response: httpx2.Response) -> None:
        """Search an answer, its body and its headers."""
        self.answered += 1
        self.statuses[response.status_code] += 1
        if response.status_code == 503 and "retry-after" in response.headers:
            self.refused += 1
        elif response.status_code >= 500:
            self.faults.append(f"{kind}: {response.text[:300]}")
        shown = json.dumps(dict(response.headers)) + response.text
        self.invalid += INVALID in shown and kind != ask_wrong.__name__
        for word in set(CANARY.findall(shown.casefold())):
            if word == tenant.canary:
                self.own += 1
                tenant.found += 1
            else:
                self.foreign.append(f"{kind}: tenant {tenant.number} saw {word}")


async def send_many(world: CanaryWorld, count: int, seed: int, *, at_once: int = AT_ONCE) -> Seen:
    """A mix of requests of random tenants; some clients hang up in the middle."""
    seen, left = Seen(), iter(range(count))
    kinds, weights = list(MIX), list(MIX.values())

    async def client(number: int) -> None:
        drawn = random.Random(seed * 1_000 + number)
        for place in left:
            tenant, other = drawn.sample(world.tenants, 2)
            changes = place > UPLOADS_FROM * count and drawn.random() < 0.02
            kind = change_document if changes else drawn.choices(kinds, weights)[0]
            seen.sent += 1
            seen.kinds[kind.__name__] += 1
            sending = asyncio.ensure_future(kind(world, tenant, other, drawn))
            hangs_up = drawn.random() < CANCELLED_SHARE
            await asyncio.wait([sending], timeout=drawn.random() * LONGEST_PATIENCE_SECONDS if hangs_up else None)
            if sending.done():
                seen.take(tenant, kind.__name__, sending.result())
                continue
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)
            seen.cancelled += 1

    await asyncio.gather(*(client(number) for number in range(at_once)))
    return seen


async def find_own(world: CanaryWorld) -> int:
    """How many tenants find their own word, all asking at once and without the cache."""

    async def finds(tenant: Tenant) -> bool:
        response = await _ask(world, tenant, LOOKUPS[-1], "BYPASS")
        return tenant.canary in response.text

    return sum(await asyncio.gather(*(finds(tenant) for tenant in world.tenants)))
