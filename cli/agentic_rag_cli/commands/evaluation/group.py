"""`rag eval`: the commands beside the evaluation itself."""

from __future__ import annotations

from agentic_rag_cli.commands.evaluation import calibrate, evaluate

app = evaluate.app
app.command("init")(calibrate.init)
app.command("calibrate")(calibrate.calibrate)
app.command("report")(evaluate.report)
