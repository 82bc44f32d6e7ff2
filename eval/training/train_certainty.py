"""Fits the weights of an answer's certainty (answering/evidence/certainty.py) on folders of work places that the reader
never saw and on the natural questions that rules are made on, and judges those in force.

    RAG_EMBEDDER=onnx AGENTIC_RAG_HOME=/tmp/training python -m eval.training.train_certainty --keep ASKED.jsonl

Each folder is a set; its questions include ones that nothing in it answers. Right is an answer that quotes all that
answers; wrong is one with none of it, and any answer where nothing is stated; abstentions are neither. With --keep what
was asked is kept, and a later run only fits. `--part e` asks the folders that judge: on them the weights in force
count, which saw none of their questions.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import astuple
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from eval.training.asked_folders import RIGHT, AskedQuestion, natural_folders, whole_folders
from eval.training.fit_certainty import Established, has_both_sorts, judge_certainty, train_certainty
from eval.training.fit_support import SupportSet
from eval.training.reader.data import JUDGES, UNREAD
from tests.quality.sets import ingested_folder

from agentic_rag.answering.answer import Answer, Outcome, Support
from agentic_rag.answering.evidence.certainty import CertaintyWeights
from agentic_rag.answering.question import AnswerOptions, CacheMode, Question
from agentic_rag.settings import Settings, load_settings
from agentic_rag_cli.in_process import open_system, operator_of
from agentic_rag_cli.wiring import Wiring
from agentic_rag_eval.support_calibration import AskedSupport

READ_SIGNS = ("unmatched", "doubt", "odds", "apart")
"""What counts where a model reads: the words say nothing more."""
ENOUGH = 10
"""Questions of a sort from which a corpus tells something of support."""

Row = Mapping[str, Any]


def main() -> None:
    """Ask, fit and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path, required=True, help="JSONL file of the answers")
    parser.add_argument("--part", choices=(UNREAD, JUDGES), default=UNREAD, help="of the folders of work places")
    options = parser.parse_args()
    if not options.keep.exists():
        with Wiring().servers(load_settings()) as settings, tempfile.TemporaryDirectory() as beside:
            asyncio.run(_ask_all(settings, Path(beside), options))
    sets = list(sets_of(options.keep.read_text(encoding="utf-8")))
    found = train_certainty(sets, READ_SIGNS)
    *weights, offset = astuple(CertaintyWeights())
    in_force = np.array([*weights, -offset])
    print({**found.weights, "offset": found.offset})
    print("AUROC of right against wrong answers; from the line on: wrong, of right, of what is not stated")
    print("in force, and fitted without the set")
    for one in sets:
        print(f"  {one.name:16} {_told(judge_certainty(one, in_force))}   {_told(found.left_out[one.name])}")


def _told(one: Established | None) -> str:
    if one is None:
        return "–"
    return "; ".join(f"{100 * share:.0f}" for share in (one.auroc, one.lacking, one.right, one.removed))


async def _ask_all(settings: Settings, beside: Path, options: argparse.Namespace) -> None:
    part = options.keep.with_suffix(".part")
    async with open_system(settings) as system:
        answer = system.container.build_answer(unrecorded=True)
        with part.open("w", encoding="utf-8") as file:
            for folder, asked in (*whole_folders(options.part, beside), *natural_folders()):
                workspace = await ingested_folder(system, settings, f"certainty-{folder.name}", folder)
                for one in asked:
                    given = Question(workspace, one.question, options=AnswerOptions(cache=CacheMode.BYPASS))
                    run = await answer.ask(operator_of(workspace.org_id), given)
                    file.write(json.dumps(_row(one, run.answer), ensure_ascii=False) + "\n")
    part.replace(options.keep)


def _row(one: AskedQuestion, answer: Answer) -> Row:
    support, certainty = answer.debug.support, answer.debug.certainty
    return {
        "corpus": one.corpus,
        "question": one.question,
        "answerable": one.is_answerable,
        "outcome": answer.outcome.value,
        "worth": one.worth(answer.text, [citation.snippet for citation in answer.citations]),
        "support": _values(support),
        "certainty": _values(certainty),
    }


def _values(weighed: Support | None) -> list[float]:
    return [] if weighed is None else [sign.value for sign in weighed.contributions]


def sets_of(kept: str) -> Iterator[SupportSet]:
    """A set for each corpus with both sorts; what abstains or is partly right is of neither."""
    for corpus, group in _by_corpus(kept):
        told = [
            row
            for row in group
            if row["certainty"] and row["worth"] in (0, RIGHT) and row["outcome"] != Outcome.ABSTAINED.value
        ]
        found = SupportSet(corpus, tuple(_asked(row) for row in told))
        if has_both_sorts(found):
            yield found


def supported_sets_of(kept: str) -> Iterator[SupportSet]:
    """A set for each corpus with enough questions that it answers, and enough that it does not, for a fit of support:
    abstentions too.
    """
    for corpus, group in _by_corpus(kept):
        asked = tuple(_asked(row) for row in group if row["support"])
        answerable = sum(one.answerable for one in asked)
        if min(answerable, len(asked) - answerable) >= ENOUGH:
            yield SupportSet(corpus, asked)


def _by_corpus(kept: str) -> Iterator[tuple[str, Iterator[Row]]]:
    return groupby(map(json.loads, kept.splitlines()), key=lambda row: str(row["corpus"]))


def _asked(row: Row) -> AskedSupport:
    return AskedSupport(
        0.0,
        row["answerable"],
        signs=tuple(row["support"]),
        certainty=tuple(row["certainty"]),
        right=row["answerable"] and row["worth"] == RIGHT,
    )


if __name__ == "__main__":
    main()
