"""`make quality`: retrieval and answers on public question sets, by the pipeline that users have. Prints one table,
writes build/reports/quality.json, ends with 5 when a row is missed.

Nothing is set per set. The corpora stay under build/quality, so that a second run only asks.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Callable, Sequence
from statistics import fmean

from agentic_rag.settings import Settings, load_settings
from agentic_rag_cli.in_process import open_system
from agentic_rag_cli.wiring import Wiring
from agentic_rag_eval.ablation import Arm
from agentic_rag_eval.metrics import Score
from tests.bench.reports import ROOT, Row, publish_report
from tests.local_model import minilm
from tests.quality import natural
from tests.quality.abstention import Supports, abstention_rows, supports_of
from tests.quality.asking import ALONE, DEFAULT, Ranked, answered, arms_of, off, ranked
from tests.quality.citations import Judged, citation_rows, judged
from tests.quality.conflicts import CONFLICTS, disagreement_rows
from tests.quality.english_rules import ENGLISH_RULES, english_rule_rows
from tests.quality.filings import FILINGS, filings
from tests.quality.grounded import STUDIES, conclusion_row, grounded_rows
from tests.quality.languages import language_rows
from tests.quality.natural import (
    FOUR_LANGUAGES,
    FOUR_LANGUAGES_DEV,
    HALVES,
    NATURAL,
    NATURAL_DEV,
    NATURAL_OWN,
    NEAR_MISSES,
    NEAR_MISSES_DEV,
)
from tests.quality.natural_asking import asked_naturally
from tests.quality.near_misses import near_miss_rows
from tests.quality.readings import READINGS, readings_rows
from tests.quality.rows import above, at_least, not_below, reported, without_verdict
from tests.quality.rules import RULES, rule_rows
from tests.quality.sets import (
    DATA,
    MULTI_HOP,
    NOISE,
    POOL,
    SINGLE_HOP,
    SPANS,
    XQUAD,
    QuestionSet,
    documents_of,
    ingested,
    questions_of,
)
from tests.quality.verifier import VERIFIER, sources, verifier_rows

RECALL = {"musique": (72, 82), "hotpotqa": (97, 98), "hotpotqa-dev100": (96, 98)}
IN_THE_POOL = {"musique": 72, "hotpotqa": 94, "hotpotqa-dev100": 94}
CONTAINED = {"hotpotqa": 60, "musique": 35, "covidqa": 50}
SPAN = 75
"""Percent of questions whose marked answer stands whole in one of the first five chunks."""


def figures(scores: Sequence[Score], name: str) -> list[float]:
    return [one.figures[name] for one in scores if name in one.figures]


def of(found: Sequence[Ranked], figure: str) -> list[float]:
    return [one.figure(figure) for one in found]


def better_arm(found: dict[str, list[Ranked]], figure: str, passages: int) -> list[float]:
    """The figures of the arm whose mean is higher, of as many passages as an answer is made from: no ranking is judged
    on more than the other shows.
    """
    return max((of([one.first(passages) for one in found[name]], figure) for name in ALONE), key=fmean)


async def measured(settings: Settings, wanted: Sequence[str], *, absolute: bool) -> list[Row]:
    """All rows of the sets asked for. Without `absolute` the embedder is one that the musts are not for: figures are
    reported, and only fusion against its better arm is judged.
    """
    must: Callable[[Row], Row] = (lambda row: row) if absolute else without_verdict
    async with open_system(settings) as system:
        container = system.container
        rows: list[Row] = []
        cited: list[Judged] = []
        supported: list[Supports] = []
        pooled: dict[str, list[Ranked]] = {}
        single: dict[str, list[Ranked]] = {}
        for name in (one for one in (*MULTI_HOP, *SINGLE_HOP) if one in wanted):
            given = QuestionSet(name, await ingested(system, name, [name]), tuple(questions_of(name)))
            asked = await answered(container, given)
            cited += await judged(container, given.workspace, asked)
            found = await ranked(container, given, arms_of(container))
            for ranking, ones in found.items():
                (pooled if name in MULTI_HOP else single).setdefault(ranking, []).extend(ones)
            if name in MULTI_HOP:
                five, ten = RECALL[name]
                rows.append(must(at_least(f"{name}: R@5", figures(asked, "recall@5"), five)))
                rows.append(must(at_least(f"{name}: R@10", figures(asked, "recall@10"), ten)))
            for figure in ("recall@5", "ndcg@10"):
                whole = figures([one for one in asked if one.question.gold_ids], figure)
                arm = better_arm(found, figure, container.settings.answering.top_k)
                rows.append(not_below(f"{name}: {figure} against its better arm", whole, arm))
            if name == SPANS:
                spans = figures(asked, "span@5")
                rows.append(must(at_least(f"{name}: gold span inside the first 5 chunks", spans, SPAN)))
            if name in CONTAINED:
                contained = figures(asked, "answer_contained")
                rows.append(must(at_least(f"{name}: gold answer in the answer", contained, CONTAINED[name])))
            rows += [must(row) for row in grounded_rows(name, asked)]
            if name == STUDIES:
                rows.append(must(conclusion_row(asked, documents_of(name))))
            supported.append(await supports_of(system, given))
            _tell(name, asked, found)
        rows += [must(row) for row in abstention_rows(supported)]
        rows += ablations("multi-hop sets pooled", pooled, (Arm.GRAPH, "recall@5") if absolute else None)
        rows += ablations("single-hop sets pooled", single)
        if POOL in wanted:
            workspace = await ingested(system, POOL, [*MULTI_HOP, NOISE])
            for name in MULTI_HOP:
                asked = await answered(container, QuestionSet(name, workspace, tuple(questions_of(name))))
                cited += await judged(container, workspace, asked)
                among = figures(asked, "recall@5")
                rows.append(must(at_least(f"{name} among {NOISE}: R@5", among, IN_THE_POOL[name])))
        if FILINGS in wanted:
            found_in = await filings(system, settings)
            cited += await judged(container, found_in.workspace, found_in.scores)
            rows.append(must(at_least(f"{FILINGS}: a gold filing in the top 5", found_in.gold_in_five, 90)))
            rows.append(must(at_least(f"{FILINGS}: a figure of the reference cited", found_in.figure_cited, 60)))
        halves = next((HALVES[one] for one in (NATURAL, NATURAL_DEV) if one in wanted), ())
        for half in (*halves, *(HALVES[NATURAL_OWN] if NATURAL_OWN in wanted else ())):
            verdicts, citations = await asked_naturally(system, settings, half)
            rows += [must(row) for row in natural.natural_rows(half, verdicts)]
            cited += citations
        four = next((HALVES[one] for one in (FOUR_LANGUAGES, FOUR_LANGUAGES_DEV) if one in wanted), ())
        if four:
            in_languages = {half: await asked_naturally(system, settings, half) for half in four}
            judged_by_half = {half: verdicts for half, (verdicts, _) in in_languages.items()}
            rows += [must(row) for row in natural.language_rows(judged_by_half)]
            cited += [one for _, citations in in_languages.values() for one in citations]
        for half in next((HALVES[one] for one in (NEAR_MISSES, NEAR_MISSES_DEV) if one in wanted), ()):
            verdicts, citations = await asked_naturally(system, settings, half)
            rows += [must(row) for row in near_miss_rows(half, verdicts)]
            cited += citations
        if XQUAD in wanted:
            rows += [must(row) for row in await language_rows(system)]
        if CONFLICTS in wanted:
            rows += await disagreement_rows()
        if READINGS in wanted:
            rows += [must(row) for row in await readings_rows(system, settings)]
        if VERIFIER in wanted:
            rows += verifier_rows(sources())
        if RULES in wanted:
            rows += [must(row) for row in await rule_rows(system, settings)]
        if ENGLISH_RULES in wanted:
            rows += await english_rule_rows(system, settings)
        return rows + (citation_rows(cited) if cited else [])


def ablations(name: str, found: dict[str, list[Ranked]], musts: tuple[Arm, str] | None = None) -> list[Row]:
    """What each arm adds to the others; `musts` is the one arm and figure that has to add something."""
    rows: list[Row] = []
    for arm in Arm if found else ():
        for figure in ("recall@5", "ndcg@10"):
            on, without_it = of(found[DEFAULT], figure), of(found[off(arm)], figure)
            must = above if (arm, figure) == musts else reported
            rows.append(must(f"{name}: {figure}, {arm.value} on against off", on, without_it))
    return rows


def _tell(name: str, asked: Sequence[Score], found: dict[str, list[Ranked]]) -> None:
    """What the table leaves out."""
    for ranking, ones in found.items():
        shown = " / ".join(
            f"{100 * fmean([one.figure(figure) for one in ones]):.1f}"
            for figure in ("recall@5", "recall@10", "ndcg@10")
        )
        print(f"    {name}, {ranking}: R@5 / R@10 / nDCG@10 {shown}")
    for figure in ("answer_contained", "false_abstention", "abstention_recall"):
        values = figures(asked, figure)
        if values:
            print(f"    {name}, {figure}: {100 * fmean(values):.1f} of {len(values)}")
    sys.stdout.flush()


def main() -> int:
    """Run it."""
    parser = argparse.ArgumentParser(prog="python -m tests.quality", description="The quality table.")
    natural_sets = (NATURAL, NATURAL_OWN, FOUR_LANGUAGES, NEAR_MISSES)
    every = (
        *MULTI_HOP,
        *SINGLE_HOP,
        POOL,
        XQUAD,
        FILINGS,
        *natural_sets,
        CONFLICTS,
        READINGS,
        VERIFIER,
        RULES,
        ENGLISH_RULES,
    )
    choices = (*every, NATURAL_DEV, FOUR_LANGUAGES_DEV, NEAR_MISSES_DEV)
    parser.add_argument("--only", action="append", choices=choices, help="these sets only; may be repeated")
    parser.add_argument("--embedder", choices=("onnx", "deterministic"), default="onnx")
    options = parser.parse_args()
    wanted = options.only or every
    if not DATA.exists() and not {*HALVES, READINGS}.issuperset(wanted):
        print(f"There is no {DATA}: AGENTIC_RAG_TEST_DATA names the folder of the question sets.", file=sys.stderr)
        return 2
    home = ROOT / "build" / "quality" / options.embedder
    home.mkdir(parents=True, exist_ok=True)
    os.environ |= {"AGENTIC_RAG_HOME": str(home), "RAG_EMBEDDER": options.embedder, "AGENTIC_RAG_LOG_LEVEL": "warning"}
    os.environ["AGENTIC_RAG_SCHEDULE"] = "calibrate_minutes=0"  # what is in force stays the same while it is measured
    if options.embedder == "onnx":
        os.environ["AGENTIC_RAG_MODEL_DIR"] = str(minilm())
    with Wiring().servers(load_settings()) as settings:
        rows = asyncio.run(measured(settings, wanted, absolute=options.embedder == "onnx"))
    return publish_report("quality" if options.embedder == "onnx" else f"quality-{options.embedder}", rows)


if __name__ == "__main__":
    sys.exit(main())
