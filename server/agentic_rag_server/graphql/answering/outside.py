"""What a run brought from the web, in the schema."""

import strawberry

from agentic_rag.answering import outside
from agentic_rag_server.graphql.http.fields import to_schema


@strawberry.type(description="What looking outside brought.")
class OutsideReport:
    searches: int = strawberry.field(description="Searches that the engine answered.")
    pages: int = strawberry.field(description="Pages that were fetched.")
    ready: int = strawberry.field(description="Pages that are new, or changed, and were ingested in time.")
    known: int = strawberry.field(description="Pages that the workspace held as they are.")
    pending: int = strawberry.field(description="Pages that came too late for this answer; workers ingest them.")
    partial: bool = strawberry.field(description="The answer had to do without something that was asked for outside.")
    refusals: list[str] = strawberry.field(
        description="Codes of what was not done, each once: `WEB_BUDGET_SPENT`, `ROBOTS_REFUSED`, `SEARCH_TIMEOUT` …"
    )


def show_outside(report: outside.OutsideReport | None) -> OutsideReport | None:
    """A report; None for a run that did not look."""
    if report is None:
        return None
    return to_schema(OutsideReport, report, partial=report.is_partial, refusals=list(report.refusals))
