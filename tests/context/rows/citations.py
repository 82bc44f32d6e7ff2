"""What a citation quotes is what the text endpoint serves at its span."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import httpx2

from agentic_rag.ingestion.ingest_chunks import ChunkedDocument
from tests.bench import http_load, processes, product
from tests.bench.reports import Row, exactly
from tests.context.ground import Ground, Library

ASK = """
mutation Ask($input: RagAnswerInput!) {
  ragAnswer(input: $input) {
    run { versions { corpusVersion } }
    citations { sourceId sourcePath snippet sourceSpan { start end } }
    userErrors { code message }
  }
}
"""
CHANGED = 20
"""Documents that are replaced after the answers were given."""


async def texts_at_spans(ground: Ground, short: bool) -> list[Row]:
    """Answers first; then some of what they cite is replaced; then each span is read at the version of its answer."""
    library = await ground.library(short=short)
    bodies = [
        http_load.body_of(
            ASK,
            {"input": {"workspaceId": library.workspace_id, "question": one.question, "options": {"cache": "BYPASS"}}},
        )
        for one in library.corpus.questions[: 20 if short else 500]
    ]
    with processes.server(ground.servers, processes.PRODUCT) as port:
        _, replies = await http_load.sequential(http_load.Endpoint(port, product.TOKEN), bodies)
        answers = [one["ragAnswer"] for one in replies]
        await _replace_some(ground, library, answers)
        wrong, checked = await _differing(port, answers)
    return [
        exactly(
            f"citations of {len(answers)} answers whose span in the text endpoint is another text, of {checked}",
            wrong,
            0,
        ),
        Row("citations compared with the text endpoint", str(checked), f"≥ {len(answers)}", checked >= len(answers)),
    ]


async def _replace_some(ground: Ground, library: Library, answers: Sequence[dict[str, Any]]) -> None:
    cited = list(dict.fromkeys(one["sourcePath"] for answer in answers for one in answer["citations"]))[:CHANGED]
    newer = [
        ChunkedDocument(path, path, ("This document was replaced after the answers were given.",)) for path in cited
    ]
    await (await ground.container()).ingest_chunks.run(library.workspace, newer, "context")


async def _differing(port: int, answers: Sequence[dict[str, Any]]) -> tuple[int, int]:
    """(citations whose text is another one, citations)."""
    wrong = checked = 0
    async with httpx2.AsyncClient(
        base_url=f"http://127.0.0.1:{port}", headers={"Authorization": f"Bearer {product.TOKEN}"}
    ) as client:
        for answer in answers:
            for citation in answer["citations"]:
                place = {**citation["sourceSpan"], "asOf": answer["run"]["versions"]["corpusVersion"]}
                reply = await client.get(f"/v1/documents/{citation['sourceId']}/text", params=place)
                checked += 1
                wrong += reply.status_code != 200 or reply.json()["text"] != citation["snippet"]
    return wrong, checked


ROWS = {"texts-at-spans": texts_at_spans}
