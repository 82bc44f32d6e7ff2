"""`rag gate learn`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from agentic_rag_cli.options import JsonOption
from agentic_rag_cli.output import terminal


def learn(
    cases: Annotated[list[Path], typer.Argument(metavar="CASES…", help="Files of labelled cases, JSONL.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of the versions.")] = Path("eval/rag_gate"),
    as_json: JsonOption = False,
) -> None:
    """Learn the gate's weights from labelled cases, and say whether they may replace those in force.

    Cases with an instant (`at`) are split by time, others by set: nothing is judged by weights that saw it. Writes
    model, metrics and reliability plot; what is in force stays as it is.

    Example: rag gate learn build/gate/cases/*.jsonl
    """
    from agentic_rag.answering.gate.weights import IN_FORCE
    from agentic_rag_eval.gate_cases import load_cases
    from agentic_rag_eval.gate_learning import learn_gate
    from agentic_rag_eval.gate_model import load_left_out, metrics_json, write_model

    left_out = load_left_out(out, IN_FORCE.version)
    found = learn_gate(load_cases(*cases), IN_FORCE, left_out)
    folder = write_model(out, found)
    shown: dict[str, Any] = {**metrics_json(found), "folder": str(folder)}
    score = found.learned.score
    lines = (
        f"{found.weights.version}, {found.cases} cases, held out by {found.split}: {found.promotion.reason}.",
        f"Of always searching: {100 * score.answered:.1f} % of its answers, {100 * score.calls:.1f} % of its calls.",
        f"Written to {folder}.",
        *[f"To try it: copy it to gate/ of AGENTIC_RAG_HOME, AGENTIC_RAG_GATE_MODE=on,{found.weights.version}=0.2."]
        * found.promotion.is_promoted,
    )
    terminal.show(shown, "\n".join(lines), as_json=as_json)
