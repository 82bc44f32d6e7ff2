"""`rag run`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from agentic_rag.kernel.errors import NotFound
from agentic_rag_cli.options import JsonOption, LimitOption, WorkspaceOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import in_process

if TYPE_CHECKING:
    from agentic_rag.answering.run import Run
    from agentic_rag_cli.session import Session

app = typer.Typer(
    help="Questions that were asked, and how they were answered.", no_args_is_help=True, rich_markup_mode=None
)


@app.command("list")
def list_runs(
    context: typer.Context, workspace: WorkspaceOption = None, limit: LimitOption = 20, as_json: JsonOption = False
) -> None:
    """List runs, newest first.

    Example: rag run list --limit 5
    """

    from agentic_rag_cli.listing import collect, the_workspace
    from agentic_rag_cli.views import run_row_json

    async def work(session: Session) -> list[Run]:
        chosen = (await the_workspace(session, workspace)).ref
        return await collect(lambda request: session.runs(chosen, request), limit)

    found = [run_row_json(one) for one in in_process(context, work)]
    if as_json:
        terminal.result_json(found)
        return
    rows = [(one["id"], one["outcome"], one["cache"], f"{1000 * one['seconds']:.0f}", one["question"]) for one in found]
    terminal.result(terminal.table(("ID", "OUTCOME", "CACHE", "MS", "QUESTION"), rows))


@app.command("show")
def show(
    context: typer.Context,
    run: Annotated[str, typer.Argument(metavar="RUN", help="Id of the run.")],
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show a run: the answer with its citations, then what each stage did and how long it took.

    Example: rag run show UgGYwN4AAHAA…
    """
    from agentic_rag.kernel.public_ids import NodeKind
    from agentic_rag_cli.listing import require_id, the_workspace
    from agentic_rag_cli.output.answer_view import answer_json, answer_text, view_run
    from agentic_rag_cli.views import run_details_json

    run_id = require_id(run, NodeKind.RUN)

    async def work(session: Session) -> Run:
        found = await session.run((await the_workspace(session, workspace, run)).ref, run_id)
        if found is None:
            raise NotFound(f"There is no run {run}; `rag run list` shows them.", code="RUN_NOT_FOUND")
        return found

    found = in_process(context, work)
    shown = view_run(found, {})
    if as_json:
        terminal.result_json({**answer_json(shown), **run_details_json(found)})
        return
    terminal.result(f"Q: {shown.question}\n\n{answer_text(shown)}\n")
    rows = [(one.stage, f"{1000 * one.seconds:.2f}", one.outcome) for one in found.stages]
    terminal.result(terminal.table(("STAGE", "MS", "OUTCOME"), rows))


@app.command("replay")
def replay(
    context: typer.Context,
    run: Annotated[str, typer.Argument(metavar="RUN", help="Id of the run.")],
    workspace: WorkspaceOption = None,
    newest: Annotated[
        bool, typer.Option("--newest", help="Read the newest corpus version, not the one that the run read.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Ask a run's question again, with the settings in force, and tell what became different. A follow-up is asked as
    the stand-alone question that it was understood as. The new answer is a run of its own.

    Example: rag run replay UgGYwN4AAHAA…
    """
    from agentic_rag_cli.commands.answering.replaying import ask_again, differences
    from agentic_rag_cli.output.answer_view import answer_json, answer_text, view_run

    async def work(session: Session) -> tuple[Run, Run]:
        return await ask_again(session, workspace, run, newest=newest)

    before, after = in_process(context, work)
    old, new = view_run(before, {}), view_run(after, {})
    found = differences(old, new)
    if as_json:
        terminal.result_json({**answer_json(new), "before": answer_json(old), "differs": [one.what for one in found]})
        return
    terminal.result(f"Q: {new.question}\n\n{answer_text(new)}\n")
    if not found:
        terminal.result(f"The same as run {old.run_id}; this one is {new.run_id}.")
        return
    rows = [(one.what, one.before, one.after) for one in found]
    terminal.result(terminal.table(("DIFFERS", "BEFORE", "NOW"), rows))
    terminal.result(f"\nThis is run {new.run_id}.")
