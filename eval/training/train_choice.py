"""Trains the trees that choose among candidate answers (answering/shapes/choice.py) and writes them.

uv pip install lightgbm
RAG_EMBEDDER=onnx python -m eval.training.train_choice --out core/agentic_rag/answering/shapes/choice.json

The questions are those on the folders of work places that the reader never saw (eval/training/workplace/d) and the
natural ones that rules are made on (dev and own). Each is asked as users do; where its answer is to be chosen, every
candidate is judged. The figures are of corpora left out: a fifth of them at a time.
"""

# lightgbm is no dependency of the product.
# pyright: reportMissingImports=false, reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
from eval.training.asked_folders import RIGHT, AskedQuestion, natural_folders, whole_folders
from eval.training.reader.data import UNREAD
from tests.quality.sets import ingested_folder

from agentic_rag.answering.answer import Outcome
from agentic_rag.answering.build import FINDERS
from agentic_rag.answering.extraction.candidate_units import Subquery
from agentic_rag.answering.extraction.extractive import DraftSentence, ExcludedSpans, PartDraft
from agentic_rag.answering.question import AnswerOptions, CacheMode, Question
from agentic_rag.answering.shapes.candidate_signs import CandidateSigns, find_signs
from agentic_rag.answering.shapes.candidates import find_candidates
from agentic_rag.answering.shapes.question_kind import QuestionKind
from agentic_rag.answering.stages.synthesize import SynthesizeStage
from agentic_rag.answering.state_machine import Stage
from agentic_rag.retrieval.candidates import Passage
from agentic_rag.settings import Settings, load_settings
from agentic_rag_cli.in_process import open_system, operator_of
from agentic_rag_cli.wiring import Wiring

NATURAL_WEIGHT = 2.0
"""Of a natural question: people asked it of documents that were not written for questions."""
TREES = 100
PARAMETERS: Mapping[str, Any] = {
    "objective": "lambdarank", "lambdarank_truncation_level": 4, "num_leaves": 8, "learning_rate": 0.08,
    "min_data_in_leaf": 30, "feature_fraction": 0.5, "bagging_fraction": 0.8, "bagging_freq": 1, "lambda_l2": 2,
    "seed": 0, "deterministic": True, "force_col_wise": True, "num_threads": 1, "verbose": -1,
}  # fmt: skip
FOLDS = 5
DIGITS = 5


@dataclass(frozen=True, slots=True)
class _Choice:
    """The signs of the candidates of a question, and what each is worth."""

    corpus: str
    is_natural: bool
    signs: np.ndarray[Any, Any]
    worth: np.ndarray[Any, Any]


class _Recorder:
    """Keeps the draft of a part, and the candidates beside it."""

    def __init__(self) -> None:
        self.seen: list[tuple[list[tuple[float, ...]], list[tuple[str, list[str]]]]] = []

    def choose(
        self,
        kind: QuestionKind,
        part: Subquery,
        place: int,
        passages: Sequence[Passage],
        draft: PartDraft,
        excluded: ExcludedSpans,
        proposed: tuple[DraftSentence, ...],
    ) -> tuple[DraftSentence, ...]:
        """The sentences of the draft."""
        found = find_candidates(place, passages, draft, excluded, proposed)
        texts = [
            (
                "\n".join(sentence.text for sentence in one.sentences),
                [passages[quote.passage].chunk.text[quote.start : quote.end] for quote in one.quotes],
            )
            for one in found
        ]
        self.seen.append((find_signs(kind, part, passages, draft, found), texts))
        return draft.sentences


def main() -> None:
    """Ask, fit, judge, and write the trees."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="write the trees to this file")
    options = parser.parse_args()
    with Wiring().servers(load_settings()) as settings, tempfile.TemporaryDirectory() as beside:
        choices = asyncio.run(_ask_all(settings, Path(beside)))
    print(f"{len(choices)} questions with a choice; right in percent: draft, left out, best candidate")
    left_out = _left_out(choices)
    for name, natural in (("work places", False), ("natural", True)):
        rows = [(one, at) for one, at in zip(choices, left_out, strict=True) if one.is_natural is natural]
        draft, chosen, best = (
            100 * np.mean([worth == RIGHT for worth in held])
            for held in zip(*((one.worth[0], one.worth[at], one.worth.max()) for one, at in rows), strict=True)
        )
        print(f"  {name} ({len(rows)}): {draft:.1f} {chosen:.1f} {best:.1f}")
    if options.out is not None:
        trees = [_plain(one["tree_structure"]) for one in _fit(choices).dump_model()["tree_info"]]
        options.out.write_text("[\n" + ",\n".join(map(json.dumps, trees)) + "\n]\n", encoding="utf-8")


async def _ask_all(settings: Settings, beside: Path) -> list[_Choice]:
    choices: list[_Choice] = []
    async with open_system(settings) as system:
        recorder = _Recorder()
        stage = SynthesizeStage(FINDERS, system.container.unit_reader, recorder.choose)
        answer = system.container.build_answer(replaced={Stage.SYNTHESIZE: stage}, unrecorded=True)
        for folder, asked in _corpora(beside):
            workspace = await ingested_folder(system, settings, f"choice-{folder.name}", folder)
            for one in asked:
                recorder.seen.clear()
                given = Question(workspace, one.question, options=AnswerOptions(cache=CacheMode.BYPASS))
                run = await answer.ask(operator_of(workspace.org_id), given)
                if len(recorder.seen) == 1 and run.answer.outcome is not Outcome.CONFLICTING:
                    signs, texts = recorder.seen[0]
                    worth = np.array([one.worth(*text) for text in texts])
                    choices.append(_Choice(one.corpus, one.natural is not None, np.array(signs, float), worth))
    return choices


def _corpora(beside: Path) -> Iterator[tuple[Path, list[AskedQuestion]]]:
    """Folders with their answerable questions."""
    for folder, asked in (*whole_folders(UNREAD, beside), *natural_folders()):
        yield folder, [one for one in asked if one.is_answerable]


def _fit(choices: Sequence[_Choice]) -> lightgbm.Booster:
    telling = [one for one in choices if one.worth.max() > one.worth.min()]
    weights = [np.full(len(one.worth), NATURAL_WEIGHT if one.is_natural else 1.0) for one in telling]
    data = lightgbm.Dataset(
        np.concatenate([one.signs for one in telling]),
        label=np.concatenate([one.worth for one in telling]),
        group=[len(one.worth) for one in telling],
        weight=np.concatenate(weights),
        feature_name=[field.name for field in fields(CandidateSigns)],
    )
    return lightgbm.train({**PARAMETERS}, data, TREES)


def _left_out(choices: Sequence[_Choice]) -> list[int]:
    """The candidate that is chosen for each question by trees that saw none of its corpus."""
    corpora = sorted({one.corpus for one in choices})
    fold = {corpus: place % FOLDS for place, corpus in enumerate(corpora)}
    fitted = [_fit([one for one in choices if fold[one.corpus] != place]) for place in range(FOLDS)]
    return [int(np.argmax(np.asarray(fitted[fold[one.corpus]].predict(one.signs)))) for one in choices]


def _plain(node: Mapping[str, Any]) -> object:
    """A node of a tree as `answering/shapes/choice.py` reads it."""
    if "leaf_value" in node:
        return round(node["leaf_value"], DIGITS)
    most = float(f"{node['threshold']:.6g}")
    return [node["split_feature"], most, _plain(node["left_child"]), _plain(node["right_child"])]


if __name__ == "__main__":
    main()
