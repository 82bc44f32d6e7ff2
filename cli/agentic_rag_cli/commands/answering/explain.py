"""`rag explain`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from agentic_rag_cli.options import JsonOption, WorkspaceOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import in_process

if TYPE_CHECKING:
    from agentic_rag.answering.runs.explain import Explanation
    from agentic_rag_cli.session import Session


def explain(
    context: typer.Context,
    run: Annotated[str, typer.Argument(metavar="RUN", help="Id of the run; `rag run list` shows them.")],
    why_not: Annotated[
        list[str] | None,
        typer.Option(
            "--why-not",
            metavar="CHUNK",
            help="Id of a passage that you expected: say where it stands. May be repeated; `rag doc chunks` shows ids.",
        ),
    ] = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Explain a run: every candidate with its rank in each arm, the trail that raised it, and why it was used or not.

    Example: rag explain UgGYwN4AAHAA… --why-not QwGYwN4AAHAA…
    """
    from agentic_rag.kernel.public_ids import NodeKind
    from agentic_rag_cli.listing import require_id, the_workspace
    from agentic_rag_cli.output.explain_view import explanation_json, explanation_text

    run_id = require_id(run, NodeKind.RUN)
    asked = [require_id(one, NodeKind.CHUNK) for one in why_not or ()]

    async def work(session: Session) -> Explanation:
        return await session.explain((await the_workspace(session, workspace, run)).ref, run_id, asked)

    found = in_process(context, work)
    if as_json:
        terminal.result_json(explanation_json(found))
    else:
        terminal.result(explanation_text(found))
