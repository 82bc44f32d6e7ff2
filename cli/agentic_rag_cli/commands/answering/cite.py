"""`rag cite`."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Annotated

import typer

from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.kernel.public_ids import NodeKind
from agentic_rag_cli.client.graphql_client import GraphQLClient
from agentic_rag_cli.client.ids import require_id
from agentic_rag_cli.options import JsonOption, RunArgument, WorkspaceOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import on_graphql

MarkerArgument = Annotated[
    int, typer.Argument(metavar="N", min=1, max=9999, help="Number of the citation in the answer.")
]

app = typer.Typer(help="What the citations of an answer name.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def cite() -> None:
    """What the citations of an answer name."""


@app.command("show")
def show(
    context: typer.Context,
    run: RunArgument,
    marker: MarkerArgument,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The file to write; default: citation-N.png, here.")
    ] = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write the page of a PDF that a citation names, with the quoted lines marked, as a PNG. Where it is not sure which
    words of the page are meant, none is marked; `rag doc text` has the text then.

    Example: rag cite show UgGYwN4AAHAA… 1 --out page.png
    """
    require_id(run, NodeKind.RUN)
    file = out or Path(f"citation-{marker}.png")

    async def work(client: GraphQLClient) -> tuple[bytes, int]:
        public_id = await client.node_id(workspace, run, NodeKind.RUN)
        content, headers = await client.fetch_file(f"/v1/runs/{public_id}/citations/{marker}.png")
        return content, int(headers["x-marked-lines"])

    content, lines = on_graphql(context, work)
    _write(file, content)
    marked = "1 line is marked" if lines == 1 else f"{lines} lines are marked" if lines else "no line is marked"
    terminal.show({"file": str(file), "markedLines": lines}, f"{file}: {marked}", as_json=as_json)


@app.command("source")
def source(
    context: typer.Context,
    run: RunArgument,
    marker: MarkerArgument,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The file to write; default: citation-N.source, here.")
    ] = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write the file that a citation was read from, byte by byte, and its SHA-256: of a page of the web the response as
    it was fetched then, also after the page changed.

    Example: rag cite source UgGYwN4AAHAA… 1 --out page.html
    """
    require_id(run, NodeKind.RUN)
    file = out or Path(f"citation-{marker}.source")

    async def work(client: GraphQLClient) -> bytes:
        public_id = await client.node_id(workspace, run, NodeKind.RUN)
        content, _ = await client.fetch_file(f"/v1/runs/{public_id}/citations/{marker}/source")
        return content

    content = on_graphql(context, work)
    _write(file, content)
    digest = sha256(content).hexdigest()
    told = {"file": str(file), "bytes": len(content), "sha256": digest}
    terminal.show(told, f"{file}: {len(content)} bytes, SHA-256 {digest}", as_json=as_json)


def _write(file: Path, content: bytes) -> None:
    """Errors: `InvalidInput`."""
    try:
        file.write_bytes(content)
    except OSError as error:
        raise InvalidInput(f"{file} cannot be written: {error.strerror}.", path=("out",)) from error
