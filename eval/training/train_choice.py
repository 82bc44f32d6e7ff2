"""Trains the trees that choose among candidate answers (answering/shapes/choice.py) and writes them.

uv pip install lightgbm
RAG_EMBEDDER=onnx python -m eval.training.train_choice --out core/agentic_rag/answering/shapes/choice.json

The questions are those on the documents of work places (eval/training/workplace) and the natural ones that rules are
made on (dev and own). Each is asked as users do; where its answer is to be chosen, every candidate is judged. The
figures are of corpora left out: a fifth of them at a time.
"""

# lightgbm is no dependency of the product.
# pyright: reportMissingImports=false, reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
from tests.quality.natural import CORPORA, NaturalQuestion, Verdict, count_sentences, judge_natural, natural_questions
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

WORKPLACE = Path(__file__).with_name("workplace")
WORTH = {Verdict.RIGHT: 4, Verdict.PARTLY: 1, Verdict.BURIED: 1}
NATURAL_WEIGHT = 2.0
"""Of a natural question: the reader was trained on most documents of work places, and ranks their units too well."""
LIMITS = {"yes_no": 3, "definition": 3, "why": 3, "compare": 5, "two_parts": 5, "how_to": 6, "list": 6, "summary": 7}
"""Sentences that a reader bears with, by kind of question; two for a value."""
MIN_QUOTED = 15
"""Letters of a quote that may stand for the half of an answer."""
TOGETHER = 8
"""Documents of work places in one workspace."""
TREES = 100
PARAMETERS: Mapping[str, Any] = {
    "objective": "lambdarank", "lambdarank_truncation_level": 4, "num_leaves": 8, "learning_rate": 0.08,
    "min_data_in_leaf": 30, "feature_fraction": 0.5, "bagging_fraction": 0.8, "bagging_freq": 1, "lambda_l2": 2,
    "seed": 0, "deterministic": True, "force_col_wise": True, "num_threads": 1, "verbose": -1,
}  # fmt: skip
FOLDS = 5
DIGITS = 5


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question of a corpus; `worth` judges what an answer says and quotes."""

    corpus: str
    question: str
    is_natural: bool
    natural: NaturalQuestion | None = None
    answers: tuple[str, ...] = ()
    value: str = ""
    limit: int = 2

    def worth(self, said: str, quotes: Sequence[str]) -> int:
        """From 0 to 4."""
        if self.natural is not None:
            outcome = "CONFLICTING" if self.natural.outcome == "CONFLICTING" else "GROUNDED"
            return WORTH.get(judge_natural(self.natural, outcome, said).verdict, 0)
        letters = [_letters(one) for one in quotes]
        found = sum(any(_quotes(one, answer) for one in letters) for answer in map(_letters, self.answers))
        if len(self.answers) == 1 and _letters(self.value) not in "".join(letters):
            found = 0
        if found < len(self.answers):
            return int(0 < found * 3 >= len(self.answers))
        return 4 if count_sentences(said) <= self.limit else 1


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
            100 * np.mean([worth == WORTH[Verdict.RIGHT] for worth in held])
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
                    choices.append(_Choice(one.corpus, one.is_natural, np.array(signs, float), worth))
    return choices


def _corpora(beside: Path) -> Iterator[tuple[Path, list[_Asked]]]:
    """Folders with their answerable questions: documents of work places, some together, copied into `beside`, each a
    corpus of its own; and the natural ones.
    """
    for part in ("a", "b"):
        documents = sorted((WORKPLACE / part).glob("*.md"))
        for first in range(0, len(documents), TOGETHER):
            folder = beside / f"{part}{first}"
            folder.mkdir()
            for one in documents[first : first + TOGETHER]:
                shutil.copy(one, folder)
            yield folder, [one for one in _read_workplace(WORKPLACE / part) if (folder / one.corpus).exists()]
    natural = [one for half in ("dev", "own") for one in natural_questions(half) if one.outcome != "NOT_STATED"]
    for corpus in sorted({one.corpus for one in natural}):
        yield CORPORA / corpus, [_Asked(corpus, one.question, True, one) for one in natural if one.corpus == corpus]


def _read_workplace(folder: Path) -> Iterator[_Asked]:
    for line in (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if answers := tuple(row["answers"]):
            limit = max(LIMITS.get(row["kind"], 2), len(answers) + 2)
            yield _Asked(row["document"], row["question"], False, None, answers, row["value"], limit)


def _letters(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())


def _quotes(quote: str, answer: str) -> bool:
    """True where a quote holds an answer, or is the half of it at least."""
    return answer in quote or (len(quote) > MIN_QUOTED and 2 * len(quote) >= len(answer) and quote in answer)


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
