"""What a context costs beside its retrieval, and how many of them two processes make."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Sequence
from statistics import median, quantiles
from typing import Any

from agentic_rag.answering.context.prepare_context import ContextPart, ContextRequest
from agentic_rag.answering.question import AnswerOptions
from tests.bench import http_load, processes, product
from tests.bench.reports import Row, at_least, at_most
from tests.context.ground import PRINCIPAL, Ground, Library

AGENTS = 100
TEMPLATE = "team_guidelines"
PASSAGES = product.HITS
"""Of each context and of each retrieval it is compared with."""


def body(library: Library, text: str) -> bytes:
    asked = {
        "query": text,
        "workspaces": [{"workspaceId": library.workspace_id}],
        "template": TEMPLATE,
        "topK": PASSAGES,
        "minSimilarity": 0.0,
        "timeoutMs": 60_000,
    }
    query = "query Context($input: ContextInput!) { context(input: $input) { text step fault sources { sourceId } } }"
    return http_load.body_of(query, {"input": asked})


def require_texts(replies: Sequence[dict[str, Any]]) -> None:
    """An empty context would be a quick one."""
    bad = [one["context"] for one in replies if one["context"]["fault"] or not one["context"]["text"]]
    if bad:
        raise RuntimeError(f"{len(bad)} contexts are empty, the first one: {bad[0]}")


async def beyond_retrieval(ground: Ground, short: bool) -> list[Row]:
    """Each text is retrieved for right after its context was made, so that both meet the same machine. The question is
    embedded in both, so that its time falls out. What only the first retrieval for a text pays (names of its question,
    of the titles that it finds) is paid before, by neither.
    """
    library = await ground.library(short=short)
    container = await ground.container()
    options = AnswerOptions(top_k=PASSAGES, min_similarity=0.0, timeout_ms=60_000)
    warming, asked = library.corpus.questions[:20], library.corpus.questions[20 : 40 if short else 420]
    taken = list[float]()
    for item in (*warming, *asked):
        request = ContextRequest(item.question, (ContextPart(library.workspace),), TEMPLATE, options)
        await product.retrieval(container, library.workspace, library.corpus.chunks, [item])
        began = time.perf_counter()
        prepared = await container.context.run(PRINCIPAL, request)
        seconds = time.perf_counter() - began
        if prepared.fault or not prepared.text:
            raise RuntimeError(f"the context of {item.question!r} is empty: {prepared.fault}")
        found = await product.retrieval(container, library.workspace, library.corpus.chunks, [item])
        taken.append(seconds - found.seconds[0])
    beyond = sorted(1000 * one for one in taken[len(warming) :])
    return [
        at_most("context beyond retrieval, p50", median(beyond), 3, " ms"),
        at_most("context beyond retrieval, p95", quantiles(beyond, n=20)[-1], 15, " ms"),
    ]


async def rate(ground: Ground, short: bool) -> list[Row]:
    """100 agents ask two processes over HTTP, against one process that retrieves and does nothing else."""
    library = await ground.library(short=short)
    container, questions = await ground.container(), library.corpus.questions
    texts = [item.question for item in questions]
    agents, requests = (20, 40) if short else (AGENTS, 3_000)
    await product.retrieval(container, library.workspace, library.corpus.chunks, questions[:20])
    found = await product.retrieval(container, library.workspace, library.corpus.chunks, questions[20:320])
    retrievals = 1 / median(found.seconds)
    bodies = [body(library, text) for text in texts]
    with (
        processes.server(ground.servers, processes.PRODUCT) as first,
        processes.server(ground.servers, processes.PRODUCT) as second,
    ):
        ends = [http_load.Endpoint(port, product.TOKEN) for port in (first, second)]
        for end in ends:
            require_texts((await http_load.sequential(end, bodies[: 2 if short else 20]))[1])
        began = time.perf_counter()
        await asyncio.gather(*(http_load.throughput(end, bodies, agents // 2, requests // 2) for end in ends))
        contexts = requests / (time.perf_counter() - began)
        require_texts((await http_load.sequential(ends[0], bodies[: 2 if short else 20]))[1])
    print(f"    {contexts:.0f} contexts/s, {retrievals:.0f} retrievals/s", file=sys.stderr)
    return [at_least(f"contexts/s of {AGENTS} agents, two processes, over retrievals/s", contexts / retrievals, 0.6)]


ROWS = {"beyond-retrieval": beyond_retrieval, "rate": rate}
