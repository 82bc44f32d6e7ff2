"""`ingestion.web.frontier.CrawlStore` on Postgres."""

from __future__ import annotations

from collections.abc import Sequence

from agentic_rag.adapters.postgres.session.connection import PostgresConnection, value_from
from agentic_rag.ingestion.web.frontier import FrontierPage, PageState
from agentic_rag.jobs.job import JobRef

ADD = """
INSERT INTO rag_crawl_pages (org_id, workspace_id, job_id, url, depth, state, code, size, text_hash, signature)
SELECT $1, $2, $3, p.url, p.depth, 'pending', p.code, 0, '', '{}'
FROM unnest($4::text[], $5::smallint[], $6::text[]) WITH ORDINALITY AS p(url, depth, code, place)
ORDER BY p.place
ON CONFLICT DO NOTHING
"""

PAGES = """
SELECT url, depth, state, code, size, text_hash, signature, document_id
FROM rag_crawl_pages
WHERE org_id = $1 AND workspace_id = $2 AND job_id = $3
ORDER BY depth, place
"""

RECORD = """
UPDATE rag_crawl_pages
SET state = $5, code = $6, size = $7, text_hash = $8, signature = $9, document_id = $10
WHERE org_id = $1 AND workspace_id = $2 AND job_id = $3 AND url = $4
"""


class PostgresCrawlStore:
    """On a connection whose transaction is open and set to the organisation."""

    def __init__(self, connection: PostgresConnection) -> None:
        self._connection = connection

    async def add(self, crawl: JobRef, pages: Sequence[FrontierPage]) -> None:
        if pages:
            urls, depths, codes = zip(*((one.url, one.depth, one.code) for one in pages), strict=True)
            await self._connection.execute(ADD, *crawl.workspace.key, crawl.job_id, urls, depths, codes)

    async def pages(self, crawl: JobRef) -> list[FrontierPage]:
        rows = await self._connection.fetch(PAGES, *crawl.workspace.key, crawl.job_id)
        return [
            value_from(FrontierPage, row, state=PageState(row["state"]), signature=tuple(row["signature"]))
            for row in rows
        ]

    async def record(self, crawl: JobRef, page: FrontierPage) -> None:
        await self._connection.execute(
            RECORD,
            *crawl.workspace.key,
            crawl.job_id,
            page.url,
            page.state.value,
            page.code,
            page.size,
            page.text_hash,
            list(page.signature),
            page.document_id,
        )
