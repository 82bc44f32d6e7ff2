"""Measures the scale of similarity thresholds of an embedder on folders of questions: recall and precision of both
thresholds, and the exponent that the questions ask for.

Every set is asked its own questions and those of the others, against its gold documents and some others of its own.
Runs in this process, with the configured embedder; nothing is stored.

    RAG_EMBEDDER=onnx:e5-small python -m eval.training.measure_similarity --set sets/a --set sets/b --questions 40
"""

from __future__ import annotations

import argparse
import asyncio
import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

import numpy as np
from eval.training.options import print_found, training_parser
from numpy.typing import NDArray

from agentic_rag.bootstrap import build_container
from agentic_rag.documents.chunking import chunk_document
from agentic_rag.documents.document import ParsedDocument
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.kernel.text import strip_unstorable
from agentic_rag.language.token_estimate import estimate_tokens
from agentic_rag.models.embedding.ports import Embedder
from agentic_rag.models.embedding.similarity import ANCHORS, AskedSimilarity, calibrate_similarity
from agentic_rag.models.embedding.space import EmbeddingSpace, min_cosine
from agentic_rag.settings import Settings, load_settings
from agentic_rag.workspaces.chunk_profiles import chunk_profile
from agentic_rag_cli.processes.servers import reachable
from agentic_rag_eval.dataset import load_corpus, load_dataset
from agentic_rag_eval.records import EvalDocument, EvalQuestion

QUESTIONS = "queries*dev.jsonl"
OTHERS = 120
"""Documents of a set that none of its chosen questions is about."""
_SEED = 19
_WORKSPACE = UUID(int=0)

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class ThresholdFigures:
    """What a threshold keeps and lets through, in a set or as the mean of several."""

    recall: float
    """The share of gold documents whose best passage passes."""
    precision: float
    """Of the questions that get a passage, how many have one of a gold document first, where as many foreign questions
    as own ones are asked.
    """
    foreign: float
    """The share of foreign questions that get a passage."""


@dataclass(frozen=True, slots=True, eq=False)
class _Set:
    """`owners` says of each row of `passages` which document it is of."""

    name: str
    questions: tuple[EvalQuestion, ...]
    asked: Floats
    owners: NDArray[np.str_]
    passages: Floats


def main() -> None:
    """Measure, print, and write the file if one is named."""
    options = _parse_arguments()
    with reachable(load_settings()) as settings:
        found = asyncio.run(_measured(settings, [Path(one) for one in options.set], options.questions))
    print_found(options, found, _as_table(found))


def _parse_arguments() -> argparse.Namespace:
    return training_parser(__doc__, sets=f"a folder with corpus.jsonl and {QUESTIONS}", most=40).parse_args()


async def _measured(settings: Settings, folders: Sequence[Path], most: int) -> dict[str, Any]:
    async with build_container(settings) as container:
        embedder, profile = container.embedder, settings.ingestion.chunk_profile
        sets = [await _load(one, most, embedder, profile) for one in folders]
    space = embedder.space
    own = {one.name: _asked(one, one, space) for one in sets}
    foreign = {
        one.name: [asked for other in sets if other is not one for asked in _asked(one, other, space)] for one in sets
    }
    thresholds: dict[str, Any] = {}
    for threshold, _ in ANCHORS:
        least = min_cosine(threshold, space)
        figures = {one.name: figures_at(own[one.name], foreign[one.name], least) for one in sets}
        thresholds[f"{threshold:g}"] = {
            "cosine": round(least, 4),
            "mean": _told(_mean([*figures.values()])),
            "without": _told(_mean([figures_at(own[name], foreign[name], -np.inf) for name in own])),
            "sets": {name: _told(one) for name, one in figures.items()},
        }
    every = [one for asked in own.values() for one in asked]
    exponents = {name: _exponent(asked) for name, asked in own.items()}
    return {
        "space": space.name,
        "exponent": {"asked_for": _exponent(every), "sets": exponents},
        "thresholds": thresholds,
    }


async def _load(folder: Path, most: int, embedder: Embedder, profile: str) -> _Set:
    files = await asyncio.to_thread(lambda: sorted(folder.glob(QUESTIONS)))
    if len(files) != 1:
        raise InvalidInput(f"{folder} holds {len(files)} files {QUESTIONS}; one is expected.", code="DATASET_MISSING")
    questions = tuple(one for one in load_dataset(files[0]) if one.gold_ids)[:most]
    documents = load_corpus(folder / "corpus.jsonl")
    gold = {key for one in questions for key in one.gold_ids}
    others = [one for one in documents if one.document_id not in gold]
    chosen = [one for one in documents if one.document_id in gold]
    chosen += random.Random(_SEED).sample(others, min(OTHERS, len(others)))
    drafts = [(one.document_id, text) for one in chosen for text in _passages(one, profile)]
    space = embedder.space
    passages = await embedder.embed([space.as_passage(text) for _, text in drafts])
    asked = await embedder.embed([space.as_question(one.question) for one in questions])
    # Stored as half floats, so that is what cosines are made of.
    kept = passages.astype(np.float16).astype(np.float32)
    return _Set(folder.name, questions, asked, np.array([owner for owner, _ in drafts]), kept)


def _passages(document: EvalDocument, profile: str) -> list[str]:
    """Cut as ingestion does."""
    title = document.title or document.document_id
    parsed = ParsedDocument(strip_unstorable(document.text), (), (), title, "text/plain", "plain", "1")
    key = uuid5(_WORKSPACE, document.document_id)
    return [one.text for one in chunk_document(key, parsed, chunk_profile(profile), estimate_tokens)]


def _asked(corpus: _Set, asking: _Set, space: EmbeddingSpace) -> list[AskedSimilarity]:
    """The questions of one set, asked of the documents of another; cosines count from the space's floor."""
    cosines = (asking.asked @ corpus.passages.T - space.floor) / (1.0 - space.floor)
    found: list[AskedSimilarity] = []
    for question, row in zip(asking.questions, cosines, strict=True):
        gold = [row[corpus.owners == key] for key in question.gold_ids] if asking is corpus else []
        best = tuple(float(owned.max()) for owned in gold if owned.size)
        first = int(row.argmax())
        found.append(AskedSimilarity(best, float(row[first]), str(corpus.owners[first]) in question.gold_ids))
    return found


def figures_at(own: Sequence[AskedSimilarity], foreign: Sequence[AskedSimilarity], least: float) -> ThresholdFigures:
    """`own` are asked of their documents, `foreign` of documents that say nothing of them; `least` is a cosine."""
    gold = [cosine for one in own for cosine in one.gold]
    served = [one for one in own if one.first >= least]
    passed = _share(sum(one.first >= least for one in foreign), len(foreign))
    right = _share(sum(one.is_first_gold for one in served), len(own))
    return ThresholdFigures(
        _share(sum(cosine >= least for cosine in gold), len(gold)),
        _share(right, _share(len(served), len(own)) + passed),
        passed,
    )


def _exponent(asked: Sequence[AskedSimilarity]) -> float:
    return calibrate_similarity(asked, datetime.now(UTC)).exponent


def _mean(figures: Sequence[ThresholdFigures]) -> ThresholdFigures:
    recall, precision, foreign = np.mean([astuple(one) for one in figures], axis=0).tolist()
    return ThresholdFigures(recall, precision, foreign)


def _told(figures: ThresholdFigures) -> dict[str, float]:
    return {name: round(value, 4) for name, value in asdict(figures).items()}


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _as_table(found: Mapping[str, Any]) -> str:
    lines = [f"{found['space']}: exponent {found['exponent']}"]
    for threshold, one in found["thresholds"].items():
        lines.append(f"{threshold}: cosine {one['cosine']}, mean {one['mean']}, without a threshold {one['without']}")
        lines += [f"  {name}: {figures}" for name, figures in one["sets"].items()]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
