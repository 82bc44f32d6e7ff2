"""`rag eval train-sentences`."""

from __future__ import annotations

import json
from dataclasses import asdict, astuple
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentic_rag.kernel.errors import InvalidInput
from agentic_rag_cli import output
from agentic_rag_cli.options import JsonOption
from agentic_rag_cli.wiring import run_async, wiring_of

if TYPE_CHECKING:
    from agentic_rag.bootstrap import Container
    from agentic_rag.settings import Settings
    from agentic_rag.tenancy.principals import WorkspaceRef
    from agentic_rag_cli.wiring import Wiring
    from agentic_rag_eval.records import EvalQuestion
    from agentic_rag_eval.sentence_training import ReadQuestion, SentenceSet, TrainedSentences


def train_sentences(
    context: typer.Context,
    sets: Annotated[
        list[str],
        typer.Option("--set", help="WORKSPACE=QUESTIONS.jsonl; questions of several hops with their answers."),
    ],
    out: Annotated[Path | None, typer.Option("--out", help="Write weights and figures to this file.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Fit the weights that choose the sentences of an answer along a trail (answering/extraction/multi_hop.py). The
    weights in force are those in the code.

    Example: rag eval train-sentences --set handbook=questions.jsonl --set reports=more.jsonl --out eval/sentences.json
    """
    from agentic_rag.answering.extraction.multi_hop import SentenceWeights
    from agentic_rag_eval.sentence_training import train_sentences as train

    wiring = wiring_of(context)
    with wiring.servers(wiring.settings()) as settings:
        read = run_async(_read(wiring, settings, sets))
    found = train(read, astuple(SentenceWeights()))
    shown = {"embedder": settings.embedder, **asdict(found)}
    if out is not None:
        out.write_text(json.dumps(shown, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    output.result_json(shown) if as_json else output.result(_table(found))


async def _read(wiring: Wiring, settings: Settings, sets: list[str]) -> list[SentenceSet]:
    from agentic_rag.bootstrap import build_container
    from agentic_rag_cli.listing import the_workspace
    from agentic_rag_eval.dataset import load_dataset
    from agentic_rag_eval.sentence_training import SentenceSet

    found: list[SentenceSet] = []
    async with wiring.session(settings) as session, build_container(settings) as container:
        for given in sets:
            name, _, path = given.partition("=")
            if not path:
                raise InvalidInput(f"--set {given!r}: give WORKSPACE=QUESTIONS.jsonl.")
            workspace = (await the_workspace(session, name)).ref
            questions = [one for one in load_dataset(Path(path)) if one.answers]
            output.note(f"{name}: {len(questions)} questions with their answers")
            read = [await _sentences(container, workspace, one) for one in questions]
            found.append(SentenceSet(name, tuple(one for one in read if one is not None)))
    return found


async def _sentences(container: Container, workspace: WorkspaceRef, question: EvalQuestion) -> ReadQuestion | None:
    """The sentences along the trail that the undivided question finds; None without a trail."""
    from agentic_rag.answering.extraction.multi_hop import collect_sentences, find_path
    from agentic_rag.answering.extraction.subquery import build_subquery
    from agentic_rag.answering.query.planner import detect_answer_type
    from agentic_rag.retrieval.candidates import SearchScope
    from agentic_rag.retrieval.passage import Passage
    from agentic_rag.retrieval.retrieve import QueryVector, RetrievalQuery
    from agentic_rag.tenancy.principals import DEFAULT_ACCESS_ID
    from agentic_rag_eval.metrics import holds_answer
    from agentic_rag_eval.sentence_training import ReadQuestion

    vector = (await container.embedder.embed([question.question]))[0]
    query = RetrievalQuery(
        workspace_id=workspace.workspace_id,
        text=question.question,
        vector=QueryVector(container.embedder.space, vector),
        scope=SearchScope((DEFAULT_ACCESS_ID,)),
        top_k=container.settings.top_k,
        weights=container.fusion_weights,
        dense_trust=container.dense_trust,
    )
    async with container.database.snapshot(workspace) as snapshot:
        found = await container.retrieve.run(snapshot, query)
    trail = frozenset(find_path(found.chunks))
    passages = [Passage(chunk, candidate, (0,)) for chunk, candidate in found.chunks]
    part = build_subquery(question.question, detect_answer_type(question.question), found.rarity)
    read, leading = collect_sentences(part, trail, passages)
    if not trail or not leading:
        return None
    texts = (passages[one.unit.passage].chunk.text[one.unit.start : one.unit.end] for one in read)
    return ReadQuestion(tuple(read), tuple(holds_answer(question, text) for text in texts))


def _table(found: TrainedSentences) -> str:
    lines = ["weights"]
    lines += [f"  {name:10} {value:8.1f}" for name, value in found.weights.items()]
    lines.append(
        "questions; gold answer among the sentences chosen, in percent: by score alone, in force, fitted, left out"
    )
    for name, questions in found.questions.items():
        left_out = found.left_out[name]
        shares = (found.by_score[name], found.in_force[name], found.fitted[name])
        shown = " / ".join(f"{100 * share:.0f}" for share in shares)
        lines.append(f"  {name:20} {questions:5}   {shown} / {'–' if left_out is None else f'{100 * left_out:.0f}'}")
    return "\n".join(lines)
