"""Deletes that meet ingestion: the document is gone, whoever was faster."""

from __future__ import annotations

import asyncio
import random
from collections import Counter

import redis.asyncio

from agentic_rag.answering.question import Question
from tests.bench.reports import Row, exactly
from tests.chaos import corpus
from tests.chaos.children import crew
from tests.chaos.clean import clean_run, end_state
from tests.chaos.ground import TOKEN, Ground, Servers, new_ground, until
from tests.chaos.rows.leases import document_of
from tests.provider_stub import Fault

KEPT = 10
MOMENTS = ("QUEUED", "RUNNING", "staged", "DONE")


async def deletes_in_mid_ingest(servers: Servers, short: bool) -> list[Row]:
    """Each of 50 documents is READY and answered from, is ingested anew, and is deleted somewhere on the way."""
    documents = 4 if short else 50
    keepers = corpus.small(servers.home / f"keepers-{short}", KEPT, first=900)
    wanted, _ = await clean_run(servers, keepers)
    async with new_ground(servers) as ground, crew(ground) as workers:
        source = ground.home / "source"
        corpus.small(source, KEPT, first=900)
        corpus.small(source, documents)
        await ground.sync(source)
        workers.start()
        workers.start()
        await ground.until_idle()
        asked = await _ask_about(ground, documents)
        corpus.small(source, documents, edition="second")
        for number in range(0, documents, 10):  # a long one now and then, with staged batches
            corpus.long(source, f"report-{number:04}.md", 150)
        ground.stub.otherwise = lambda _: Fault(delay_seconds=0.15)
        names = sorted(path.name for path in source.iterdir() if not path.name.startswith("report-09"))
        await ground.sync(source)
        met: Counter[str] = Counter()
        draw = random.Random(11)
        await asyncio.gather(*(_delete(ground, name, met, draw.choice(MOMENTS)) for name in names))
        await ground.until_idle()
        left = await _left_of(ground, names)
        cached = await _cached_answers(ground, documents)
        tombs = await ground.value("SELECT count(*) FROM rag_tombstones")
        state = await end_state(f"{documents} deletes in mid-ingest", ground, wanted)
    print(f"    deletes met their document {dict(met)}; {asked} answers had been cached")
    return [
        state,
        Row(f"delete in mid-ingest × {documents}: rows left, certificates not verified", str(left), "{}", not left),
        exactly("delete in mid-ingest: cached answers that hold a deleted word", cached, 0),
        Row("delete in mid-ingest: answers cached before", str(asked), "≥ 1", asked >= 1),
        exactly("delete in mid-ingest: tombstones", tombs, documents),
    ]


async def _ask_about(ground: Ground, documents: int) -> int:
    """Have cached answers whose words are about to be erased; how many."""
    principal = await ground.container.server_identity.authenticate(TOKEN)
    for number in range(documents):
        question = Question(ground.workspace, f"Which edition of the {corpus.word(number)} gauge was read twice?")
        await ground.container.answer.ask(principal, question)

    async def cached() -> bool:
        return await _cached_answers(ground, documents) > 0

    await until(cached, "answers are cached")
    return await _cached_answers(ground, documents)


async def _delete(ground: Ground, name: str, met: Counter[str], moment: str) -> None:
    """Delete a document at a moment of its ingestion, or as soon after as it can be met."""
    document = await document_of(ground, name)

    async def there() -> bool:
        state = await ground.value(
            "SELECT state FROM rag_jobs WHERE document_id = $1 ORDER BY created_at DESC LIMIT 1", document
        )
        if moment == "staged":
            staged = await ground.value(
                "SELECT count(*) FROM rag_staged_chunks WHERE document_id = $1 AND vector IS NOT NULL", document
            )
            return staged > 0 or state == "DONE"
        return state == moment or state == "DONE"

    await until(there, f"{name} is {moment}")
    state = await ground.value(
        "SELECT state FROM rag_jobs WHERE document_id = $1 ORDER BY created_at DESC LIMIT 1", document
    )
    met[state] += 1
    await ground.container.delete.run(ground.workspace, document)


async def _left_of(ground: Ground, names: list[str]) -> dict[str, int]:
    """Rows of the deleted documents by store, and how many certificates do not hold when they are checked again."""
    ids = [await document_of(ground, name) for name in names]
    counts = {
        table: await ground.value(f"SELECT count(*) FROM {table} WHERE document_id = ANY($1)", ids)
        for table in ("rag_documents", "rag_revisions", "rag_chunks", "rag_staged_chunks", "rag_mentions")
    }
    counts["not proven erased"] = 0
    for one in ids:
        proof = await ground.container.prove_erasure.run(ground.workspace, one)
        counts["not proven erased"] += not proof.is_complete
    return {store: count for store, count in counts.items() if count}


async def _cached_answers(ground: Ground, documents: int) -> int:
    """Cached answers, in Redis or Postgres, that hold a word which stands in these documents only."""
    words = [corpus.word(number).encode() for number in range(documents)]
    values = [row["answer"] for row in await ground.rows("SELECT answer FROM rag_cache_entries")]
    async with redis.asyncio.Redis.from_url(ground.variables["REDIS_URL"]) as client:
        async for key in client.scan_iter(match=f"{ground.variables['AGENTIC_RAG_QUEUE_NAME']}*"):
            if await client.type(key) == b"string":
                values.append(await client.get(key) or b"")
    return sum(any(word in value for word in words) for value in values)
