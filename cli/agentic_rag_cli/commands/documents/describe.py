"""`rag doc set`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from agentic_rag.documents.metadata import change_json
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag_cli.client import queries
from agentic_rag_cli.client.graphql_client import GraphQLClient
from agentic_rag_cli.options import (
    DateOption,
    DomainOption,
    FieldOption,
    JsonOption,
    LanguageOption,
    TagOption,
    WorkspaceOption,
    metadata_input,
    metadata_of,
)
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import on_graphql


def set_document(
    context: typer.Context,
    document: Annotated[str, typer.Argument(metavar="DOCUMENT", help="Id or source path of the document.")],
    title: Annotated[
        str | None, typer.Option("--title", help="Rename it; '': its text decides when it is ingested next.")
    ] = None,
    tag: TagOption = None,
    field: FieldOption = None,
    domain: DomainOption = None,
    language: LanguageOption = None,
    date: DateOption = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Rename a document, or change what is said of it. Tags replace those before; --tag '' removes them.

    Example: rag doc set policies/travel.pdf --title "Travel policy" --tag hr --tag travel --field team=core
    """
    said = metadata_of(tag, field, domain, language, date, title)
    if said.is_empty:
        raise InvalidInput("Nothing is said: give --title, --tag, --field, --domain, --language or --date.")
    renamed = {} if title is None else {"title": change_json(said)["title"]}

    async def work(client: GraphQLClient) -> dict[str, Any]:
        chosen = await client.document_id(workspace, document)
        changed = await client.fetch(queries.UPDATE_DOCUMENT, id=chosen, metadata=metadata_input(said), **renamed)
        return changed["document"]

    changed = on_graphql(context, work)
    shown = {**changed, "metadata": metadata_json(changed["metadata"])}
    rows = [("title", changed["title"]), *metadata_rows(changed["metadata"])]
    terminal.show(
        shown,
        f"{terminal.one_line(changed['sourcePath'])}\n{terminal.table(('FIELD', 'VALUE'), rows)}",
        as_json=as_json,
    )


def metadata_json(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata with its fields by name."""
    return {**metadata, "fields": {one["name"]: one["value"] for one in metadata["fields"]}}


def metadata_rows(metadata: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What is said, a row for each property and field."""
    said = [(name, ", ".join(value) if isinstance(value, list) else value) for name, value in metadata.items()
            if name != "fields" and value]  # fmt: skip
    return [*said, *((f"field.{one['name']}", one["value"]) for one in metadata["fields"])]
