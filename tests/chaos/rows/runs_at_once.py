"""A run is found at once by its id, whichever server process is asked."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import AsyncExitStack
from typing import Any

import httpx2

from agentic_rag.kernel.public_ids import encode_workspace
from tests.bench.reports import Row, exactly
from tests.chaos import corpus
from tests.chaos.children import crew
from tests.chaos.ground import TOKEN, Ground, Servers, new_ground
from tests.chaos.rows.overload import server_process

CLIENTS = 4
FIND = """
query Find($id: ID!) { run(id: $id) { id } node(id: $id) { id } explainRun(runId: $id) { run { id } } }
"""


async def runs_at_once(servers: Servers, short: bool) -> list[Row]:
    """Each answer is asked of one process, and its run of the others as soon as it is there."""
    runs, documents, processes = (10, 12, 2) if short else (1_000, 100, 3)
    async with new_ground(servers, RAG_EMBEDDER="deterministic") as ground, crew(ground) as workers:
        await ground.sync(corpus.small(ground.home / "source", documents))
        workers.start()
        await ground.until_idle()
        await workers.stop()
        async with AsyncExitStack() as opened:
            ports = [await opened.enter_async_context(server_process(ground)) for _ in range(processes)]
            http = await opened.enter_async_context(httpx2.AsyncClient(timeout=30, trust_env=False))
            found = await _ask_and_find(ground, http, ports, documents, runs)
    print(f"    {runs} runs, {processes} processes: {dict(found)}")
    name = f"{runs} runs asked of one of {processes} processes, at once of the others"
    return [exactly(f"{name}: found by {how}", found[how], runs) for how in ("run", "node", "explainRun", "after")]


async def _ask_and_find(
    ground: Ground, http: httpx2.AsyncClient, ports: list[int], documents: int, runs: int
) -> Counter[str]:
    workspace = encode_workspace(ground.workspace.workspace_id)
    numbers, found = iter(range(runs)), Counter[str]()

    async def call(port: int, query: str, variables: dict[str, Any]) -> dict[str, Any]:
        reply = await http.post(
            f"http://127.0.0.1:{port}/graphql",
            json={"query": query, "variables": variables},
            headers={"Authorization": f"Bearer {TOKEN}"},
        )
        return reply.json().get("data") or {}

    async def ask(port: int, number: int, **more: str) -> str | None:
        text = f"Who inspected the place of the {corpus.word(number % documents)} gauge, reading {number}?"
        asked = {"workspaceId": workspace, "question": text, **more}
        query = "query Ask($input: RagAnswerInput!) { ragAnswer(input: $input) { run { id } userErrors { code } } }"
        answered = (await call(port, query, {"input": asked})).get("ragAnswer") or {}
        return None if answered.get("userErrors") or not answered.get("run") else answered["run"]["id"]

    async def client() -> None:
        for number in numbers:
            place = number % len(ports)
            first, *others = [*ports[place:], *ports[:place]]
            second, third = others[0], others[-1]
            run_id = await ask(first, number)
            if run_id is None:
                found["unanswered"] += 1
                continue
            seen, followed = await asyncio.gather(
                call(second, FIND, {"id": run_id}), ask(third, number + runs, after=run_id)
            )
            found.update(how for how in ("run", "node", "explainRun") if seen.get(how))
            found["after"] += followed is not None

    await asyncio.gather(*(client() for _ in range(CLIENTS)))
    return found
