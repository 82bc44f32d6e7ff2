"""Fits the weights of an answer's support (answering/evidence/answerability.py). Every question is asked with and
without the documents that answer it. The weights in force are those in the code.

    python -m eval.training.train_support --set handbook=questions.jsonl --set reports=more.jsonl --out support.json
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, astuple, replace
from pathlib import Path
from uuid import UUID

from eval.training.fit_support import Separation, SupportSet, TrainedSupport, train_support

from agentic_rag.answering.evidence.answerability import AnswerabilityFeatures, SupportWeights
from agentic_rag.answering.question import AnswerOptions, CacheMode, Question
from agentic_rag.bootstrap import Container, build_container
from agentic_rag.documents.document import DocumentFilter
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.kernel.pagination import MAX_PAGE, PageRequest
from agentic_rag.settings import Settings, load_settings
from agentic_rag.tenancy.principals import DEFAULT_ORG_ID, Principal, Role, WorkspaceRef
from agentic_rag_cli.processes.servers import reachable
from agentic_rag_eval.dataset import load_dataset
from agentic_rag_eval.records import EvalQuestion
from agentic_rag_eval.support_calibration import AskedSupport

MAINTAINER = Principal(org_id=DEFAULT_ORG_ID, subject="training", role=Role.OPERATOR)


def main() -> None:
    """Ask, fit, print, and write the file if one is named."""
    options = _parse_arguments()
    with reachable(load_settings()) as settings:
        asked = asyncio.run(_ask_sets(settings, options.set, options.questions))
    in_force = astuple(SupportWeights())[: len(AnswerabilityFeatures.__dataclass_fields__)]
    found = train_support(asked, in_force)
    questions = {one.name: len(one.asked) for one in asked}
    shown = json.dumps(
        {"embedder": settings.models.embedder, "questions": questions, **asdict(found)}, indent=2, ensure_ascii=False
    )
    if options.out is not None:
        options.out.write_text(shown + "\n", encoding="utf-8")
    print(shown if options.json else _table(found))


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--set",
        action="append",
        required=True,
        help="WORKSPACE=QUESTIONS.jsonl; the questions' gold_ids are documents of the workspace",
    )
    parser.add_argument("--questions", type=int, default=240, help="questions of each set, from its beginning")
    parser.add_argument("--out", type=Path, help="write weights and figures to this file")
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser.parse_args()


async def _ask_sets(settings: Settings, sets: list[str], most: int) -> list[SupportSet]:
    found: list[SupportSet] = []
    async with build_container(settings) as container:
        for given in sets:
            name, _, path = given.partition("=")
            if not path:
                raise InvalidInput(f"--set {given!r}: give WORKSPACE=QUESTIONS.jsonl.")
            questions = load_dataset(Path(path))[:most]
            known = [one for one in questions if one.gold_ids]
            removed = [replace(one, without=one.gold_ids, gold_ids=()) for one in known]
            unanswerable = [one for one in questions if not one.answerable]
            print(f"{name}: {len(known)} questions with and without their documents", file=sys.stderr)
            workspace = await _find_workspace(container, name)
            asked = await _measure_support(container, workspace, [*known, *removed, *unanswerable])
            found.append(SupportSet(name, tuple(asked)))
    return found


async def _find_workspace(container: Container, name: str) -> WorkspaceRef:
    async with container.database.transaction(DEFAULT_ORG_ID) as transaction:
        for one in await transaction.workspaces.all():
            if one.name == name:
                return one.ref
    raise InvalidInput(f"There is no workspace {name!r}.", code="WORKSPACE_NOT_FOUND")


async def _measure_support(
    container: Container, workspace: WorkspaceRef, questions: Sequence[EvalQuestion]
) -> list[AskedSupport]:
    """The support of every question that is answered from passages."""
    ids = await _document_ids(container, workspace)
    found: list[AskedSupport] = []
    for one in questions:
        without = tuple(ids[path] for path in one.without if path in ids)
        options = AnswerOptions(cache=CacheMode.BYPASS, filter=DocumentFilter(without_ids=without))
        run = await container.answer.ask(MAINTAINER, Question(workspace, one.question, options=options))
        support = run.answer.debug.support
        if support is not None:
            signs = tuple(sign.value for sign in support.contributions)
            found.append(AskedSupport(support.score, bool(one.gold_ids) and not one.without, signs))
    return found


async def _document_ids(container: Container, workspace: WorkspaceRef) -> dict[str, UUID]:
    found: dict[str, UUID] = {}
    after: str | None = None
    while True:
        async with container.database.transaction(workspace.org_id) as transaction:
            page = await transaction.documents.page(workspace, PageRequest(MAX_PAGE, after), ())
        found |= {one.source_path: one.document_id for one in page.items}
        if not page.has_next:
            return found
        after = page.cursors[-1]


def _table(found: TrainedSupport) -> str:
    lines = ["weights"]
    lines += [f"  {name:10} {value:8.1f}" for name, value in {**found.weights, "offset": found.offset}.items()]
    lines.append(
        "AUROC / abstained without answer at 5 % false abstention, in percent: in force, fitted, left out; then "
        "abstained at the default threshold, answerable / without answer"
    )
    lines += [
        f"  {name:20} {_format_separation(found.in_force[name])}   {_format_separation(found.fitted[name])}   "
        f"{_format_separation(found.left_out[name])}   "
        f"{100 * found.by_default[name].answerable:.0f} / {100 * found.by_default[name].others:.0f}"
        for name in found.fitted
    ]
    return "\n".join(lines)


def _format_separation(one: Separation | None) -> str:
    return "–" if one is None else f"{100 * one.auroc:.0f} / {100 * one.abstained:.0f}"


if __name__ == "__main__":
    main()
