"""Fits the weights that lead from passage to passage (retrieval/graph/multi_hop.py) on folders of questions.

Runs in this process, with the configured embedder; nothing is stored. The weights in force are those in the code.

    RAG_EMBEDDER=onnx python -m eval.training.train_ranker --set sets/a,sets/b=2 --set sets/c --out eval/ranker.json
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

from eval.training.fit_ranker import TrainingSet
from eval.training.options import print_found, training_parser
from eval.training.ranker_pool import TrainingCorpus
from eval.training.ranker_report import as_json, as_table, train

from agentic_rag.bootstrap import build_container
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.models.embedding.ports import Embedder
from agentic_rag.retrieval.candidates import Retriever
from agentic_rag.retrieval.fusion import dense_trust_of, lexical_share
from agentic_rag.retrieval.graph.multi_hop import StepWeights
from agentic_rag.settings import Settings, load_settings
from agentic_rag_cli.processes.servers import reachable
from agentic_rag_eval.dataset import load_corpus, load_dataset

QUESTIONS = "queries*.jsonl"


def main() -> None:
    """Fit, measure, print, and write the file if one is named."""
    options = _parse_arguments()
    with reachable(load_settings()) as settings:
        groups, embedder = asyncio.run(_load(settings, options.set, options.questions))
    found = train(groups, embedder, not options.no_leave_out, lambda *_: None)
    print_found(options, as_json(found), as_table(found))


def _parse_arguments() -> argparse.Namespace:
    parser = training_parser(
        __doc__,
        sets="folders with corpus.jsonl and queries*.jsonl; joined by commas, they are left out together; "
        "=2 after them makes them count twice",
    )
    parser.add_argument("--no-leave-out", action="store_true", help="do not fit without each set")
    return parser.parse_args()


async def _load(settings: Settings, given: list[str], most: int | None) -> tuple[list[list[TrainingSet]], str]:
    async with build_container(settings) as container:
        embedder = container.embedder
        share = lexical_share({Retriever.DENSE: (), Retriever.LEXICAL: ()}, dense_trust_of(embedder.space))
        groups = [await _load_group(one, most, embedder, share, settings.ingestion.chunk_profile) for one in given]
        return groups, embedder.space.name


async def _load_group(
    given: str, most: int | None, embedder: Embedder, share: float, profile: str
) -> list[TrainingSet]:
    paths, _, weight = given.partition("=")
    try:
        counts = float(weight or 1)
    except ValueError:
        raise InvalidInput(f"--set {given!r}: {weight!r} is not a number.") from None
    return [await _load_set(Path(path), counts, most, embedder, share, profile) for path in paths.split(",")]


async def _load_set(
    folder: Path, weight: float, most: int | None, embedder: Embedder, share: float, profile: str
) -> TrainingSet:
    files = await asyncio.to_thread(lambda: sorted(folder.glob(QUESTIONS)))
    if len(files) != 1:
        raise InvalidInput(f"{folder} holds {len(files)} files {QUESTIONS}; one is expected.", code="DATASET_MISSING")
    questions = [one for one in load_dataset(files[0]) if one.gold_ids][:most]
    if not questions:
        raise InvalidInput(f"{files[0]}: no question has gold_ids.", code="DATASET_INVALID")
    documents = load_corpus(folder / "corpus.jsonl")
    print(f"{folder.name}: {len(documents)} documents, {len(questions)} questions", file=sys.stderr)
    corpus = await TrainingCorpus.of(documents, embedder, share, profile)
    vectors = await embedder.embed([embedder.space.as_question(one.question) for one in questions])
    trained = [corpus.question(one, vector, StepWeights()) for one, vector in zip(questions, vectors, strict=True)]
    return TrainingSet(folder.name, trained, weight)


if __name__ == "__main__":
    main()
