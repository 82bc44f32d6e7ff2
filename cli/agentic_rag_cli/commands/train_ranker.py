"""`rag eval train-ranker`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.kernel.formatting import format_count
from agentic_rag_cli import output
from agentic_rag_cli.options import JsonOption
from agentic_rag_cli.wiring import run_async, wiring_of

if TYPE_CHECKING:
    from agentic_rag.models.embedding.ports import Embedder
    from agentic_rag.settings import Settings
    from agentic_rag_eval.ranker_training import TrainingSet

CORPUS = "corpus.jsonl"
QUESTIONS = "queries*.jsonl"


def train_ranker(
    context: typer.Context,
    sets: Annotated[
        list[str],
        typer.Option(
            "--set",
            help="Folders with corpus.jsonl and queries*.jsonl, joined by commas when they are to be left out "
            "together; =2 behind them makes them count twice.",
        ),
    ],
    most: Annotated[
        int | None, typer.Option("--questions", min=10, help="Of each set, from its beginning; all when left out.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Write weights and figures to this file.")] = None,
    leave_out: Annotated[
        bool, typer.Option("--leave-out/--no-leave-out", help="Also fit without each set and measure on it.")
    ] = True,
    as_json: JsonOption = False,
) -> None:
    """Fit the weights that lead from passage to passage (retrieval/graph/multi_hop.py) on sets of your own.

    Runs in this process, with the configured embedder; nothing is stored. The weights in force are those in the code.

    Example: RAG_EMBEDDER=onnx rag eval train-ranker --set sets/a,sets/b=2 --set sets/c --out eval/ranker.json
    """
    from agentic_rag_eval.ranker_report import as_json as report_json
    from agentic_rag_eval.ranker_report import as_table, train

    wiring = wiring_of(context)
    with wiring.servers(wiring.settings()) as settings:
        groups, embedder = run_async(_load(settings, sets, most))
    bar = output.ProgressLine("fitting")
    try:
        found = train(groups, embedder, leave_out, lambda _, done, total: bar.update(done, total))
    finally:
        bar.close()
    shown = report_json(found)
    if out is not None:
        out.write_text(json.dumps(shown, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    if as_json:
        output.result_json(shown)
    else:
        output.result(as_table(found))


async def _load(settings: Settings, given: list[str], most: int | None) -> tuple[list[list[TrainingSet]], str]:
    from agentic_rag.bootstrap import build_container
    from agentic_rag.retrieval.candidates import Retriever
    from agentic_rag.retrieval.fusion import lexical_share

    async with build_container(settings) as container:
        embedder = container.embedder
        share = lexical_share({Retriever.DENSE: (), Retriever.LEXICAL: ()}, container.dense_trust)
        groups = [await _group(one, most, embedder, share, settings.chunk_profile) for one in given]
        return groups, embedder.space.name


async def _group(given: str, most: int | None, embedder: Embedder, share: float, profile: str) -> list[TrainingSet]:
    paths, _, weight = given.partition("=")
    try:
        counts = float(weight or 1)
    except ValueError:
        raise InvalidInput(f"--set {given!r}: {weight!r} is not a number.") from None
    return [await _one(Path(path), counts, most, embedder, share, profile) for path in paths.split(",")]


async def _one(
    folder: Path, weight: float, most: int | None, embedder: Embedder, share: float, profile: str
) -> TrainingSet:
    from agentic_rag.retrieval.graph.multi_hop import StepWeights
    from agentic_rag_eval.dataset import load_corpus, load_dataset
    from agentic_rag_eval.ranker_training import TrainingSet
    from agentic_rag_eval.training_pool import TrainingCorpus

    files = _questions(folder)
    if len(files) != 1:
        raise InvalidInput(f"{folder} holds {len(files)} files {QUESTIONS}; one is expected.", code="DATASET_MISSING")
    questions = [one for one in load_dataset(files[0]) if one.gold_ids][:most]
    if not questions:
        raise InvalidInput(f"{files[0]}: no question has gold_ids.", code="DATASET_INVALID")
    documents = load_corpus(folder / CORPUS)
    output.note(
        f"{folder.name}: {format_count(len(documents), 'document')}, {format_count(len(questions), 'question')}"
    )
    corpus = await TrainingCorpus.of(documents, embedder, share, profile)
    vectors = await embedder.embed([one.question for one in questions])
    trained = [corpus.question(one, vector, StepWeights()) for one, vector in zip(questions, vectors, strict=True)]
    return TrainingSet(folder.name, trained, weight)


def _questions(folder: Path) -> list[Path]:
    return sorted(folder.glob(QUESTIONS))
