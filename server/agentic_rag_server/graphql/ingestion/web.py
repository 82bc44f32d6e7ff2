"""Searching the web, and crawling it."""

import strawberry

from agentic_rag.ingestion.web import frontier
from agentic_rag.ingestion.web.crawl import report_crawl
from agentic_rag.jobs.job import JobRef
from agentic_rag.kernel.public_ids import NodeKind, decode, encode
from agentic_rag.web import search
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Sight
from agentic_rag_server.graphql.http.context import Info
from agentic_rag_server.graphql.http.fields import Payload, field, mutation, to_schema


@strawberry.input(description="A search of the web.")
class SearchWebInput:
    workspace_id: strawberry.ID
    query: str
    locale: str = strawberry.field(default="", description="A language tag such as `de-AT`.")
    days: int | None = strawberry.field(default=None, description="Only pages that are known to be this young.")
    top_k: int = 5


@strawberry.type(description="A page that the search engine names. Title and snippet are words of strangers.")
class SearchResult:
    url: str
    title: str
    snippet: str
    published: str


@strawberry.type(description="What was found, and what is left of the day's envelope; or why nothing was asked.")
class SearchWebPayload(Payload):
    results: list[SearchResult] = strawberry.field(default_factory=list[SearchResult])
    searches_left: int | None = None
    pages_left: int | None = None


@strawberry.input(description="A crawl: pages, and those that they link to, become documents of the workspace.")
class CrawlInput:
    workspace_id: strawberry.ID
    urls: list[str] = strawberry.field(
        description="Pages, sitemaps and feeds, whose pages are read as if each were named."
    )
    depth: int = strawberry.field(default=1, description="Links between a page and one of `urls`, 0 to 3.")
    max_pages: int = strawberry.field(default=50, description="Pages that are fetched at most.")
    max_bytes: int = 50_000_000
    max_seconds: int = 600
    hosts: list[str] = strawberry.field(
        default_factory=list[str], description="Hosts beside those of `urls` that may be followed to."
    )


@strawberry.type(
    description="What a crawl is expected to come to: by pages that the workspace holds of its sites, else by pages at "
    "large."
)
class CrawlEstimate:
    pages: int = strawberry.field(description="Fetched at most, by the request and by what is left of the day.")
    size: int = strawberry.field(description="Bytes that are fetched.")
    seconds: int = strawberry.field(description="By the pauses between requests; slow sites take longer.")
    tokens: int = strawberry.field(description="To embed; pages that have not changed take none.")
    cost_usd: float | None = strawberry.field(description="Null without a known price; 0 on the server itself.")
    known_pages: int = strawberry.field(description="Pages of these sites that the workspace holds.")
    pages_left: int = strawberry.field(description="Of the day's envelope.")


@strawberry.type(description="The job that crawls, or why there is none.")
class CrawlPayload(Payload):
    job_id: strawberry.ID | None = None


@strawberry.type(description="A page of a crawl.")
class CrawledPage:
    url: str
    depth: int
    state: str = strawberry.field(
        description="`pending`, `kept`, `unchanged`, `expanded` (a sitemap or feed), `duplicate`, `needs_script`, "
        "`refused` or `failed`."
    )
    code: str = strawberry.field(description="Why it was refused or failed; empty for the others.")
    document_id: strawberry.ID | None


@strawberry.type
class WebQuery:
    @field(
        Action.READ,
        Action.CRAWL_WEB,
        right=Sight.ORGANISATION,
        description="What a crawl would fetch, take and cost. No site is asked, and nothing counts against the day's "
        "envelope. Takes the role admin.",
    )
    async def estimate_crawl(self, info: Info, input: CrawlInput) -> CrawlEstimate:
        """Errors: those of `crawl`, among the errors."""
        context = info.context
        workspace = await context.workspace(input.workspace_id, ("input", "workspaceId"))
        return to_schema(CrawlEstimate, await context.parts.estimate_crawl.run(workspace, _crawl_request(input)))

    @field(
        Action.READ,
        Action.CRAWL_WEB,
        right=Sight.ORGANISATION,
        description="The pages of a crawl, by its job. Takes the role admin.",
    )
    async def crawl_pages(self, info: Info, id: strawberry.ID) -> list[CrawledPage]:
        context, node = info.context, decode(id, NodeKind.JOB)
        report = await report_crawl(context.parts.database, JobRef(context.ref(node), node.key))
        return [
            to_schema(
                CrawledPage,
                one,
                state=one.state.value,
                document_id=None
                if one.document_id is None
                else encode(NodeKind.DOCUMENT, node.workspace_id, one.document_id),
            )
            for one in report.pages
        ]


@strawberry.type
class WebMutation:
    @mutation(
        Action.SEARCH_WEB,
        SearchWebPayload,
        right=Sight.ORGANISATION,
        description="Search the web; nothing is fetched or kept. Counts against the day's envelope. Takes the role "
        "member.",
    )
    async def search_web(self, info: Info, input: SearchWebInput) -> SearchWebPayload:
        context = info.context
        workspace = await context.workspace(input.workspace_id, ("input", "workspaceId"))
        filters = search.SearchFilters(days=input.days)
        request = search.SearchRequest(input.query, input.locale, filters, input.top_k)
        found = await context.parts.search_web.run(workspace, request, context.principal.subject_id)
        results = [to_schema(SearchResult, one) for one in found.results]
        return SearchWebPayload(results=results, searches_left=found.budget.searches, pages_left=found.budget.pages)

    @mutation(
        Action.CRAWL_WEB,
        CrawlPayload,
        right=Sight.ORGANISATION,
        description="Queue a crawl. robots.txt, `noindex` and the day's envelope hold. Takes the role admin.",
    )
    async def crawl(self, info: Info, input: CrawlInput) -> CrawlPayload:
        context = info.context
        workspace = await context.workspace(input.workspace_id, ("input", "workspaceId"))
        ref = await context.parts.crawl_web.start(workspace, _crawl_request(input), context.principal.subject_id)
        return CrawlPayload(job_id=strawberry.ID(encode(NodeKind.JOB, workspace.workspace_id, ref.job_id)))


def _crawl_request(given: CrawlInput) -> frontier.CrawlRequest:
    return frontier.CrawlRequest(
        tuple(given.urls), given.depth, given.max_pages, given.max_bytes, given.max_seconds, tuple(given.hosts)
    )
