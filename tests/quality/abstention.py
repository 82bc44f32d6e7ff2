"""How often questions are abstained on that the corpus answers, and that it does not answer."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from agentic_rag_cli.commands.evaluation.calibrate import made_set, supports
from agentic_rag_cli.in_process import System
from agentic_rag_eval.calibration_job import MOST_READ
from agentic_rag_eval.metrics import normalise
from agentic_rag_eval.own_questions import EASIER, KNOWN_ITEM
from agentic_rag_eval.records import EvalDocument, EvalQuestion
from agentic_rag_eval.support_calibration import (
    binomial_interval,
    calibrate,
    chance_of_at_least,
    conformal_threshold,
)
from tests.bench.reports import Row
from tests.quality.rows import at_least, share
from tests.quality.sets import HALF_ANSWERABLE, MULTI_HOP, QuestionSet, documents_of

ERROR = 0.05
SIGNIFICANCE = 0.05
OVER_ALL = 0.07
OWN_QUESTIONS = 400
MOST_APART = 0.6
SINGLE = ("pubmedqa", HALF_ANSWERABLE)
REMOVED = {SINGLE: 85.0, ("hotpotqa", "hotpotqa-dev100"): 60.0, ("musique",): 40.0}
"""Percent of the questions abstained on without their documents, at `ERROR` of those with them."""
REMOVED_BY_DEFAULT = {"clapnq": 75.0, "pubmedqa": 75.0, "hotpotqa": 65.0, "hotpotqa-dev100": 65.0, "musique": 45.0}
"""The same with nothing set."""
UNANSWERABLE = 50.0


@dataclass(frozen=True, slots=True)
class Supports:
    """The supports of one set's questions, by what the corpus held for them."""

    name: str
    answered: list[float]
    removed: list[float]
    """Asked without any of their documents."""
    unanswerable: list[float]
    answer_removed: list[float]
    """Asked without the one document that holds the answer, of several."""
    own_threshold: float
    """Calibrated on questions made from the corpus alone."""
    removed_by_default: list[bool]
    """Which of `removed` end as an abstention with nothing set."""
    unanswerable_by_default: list[bool]
    own: list[float]
    """Of the questions made from the corpus."""


async def supports_of(system: System, given: QuestionSet) -> Supports:
    """Asks every question with and without its documents; of sets of several hops also without the answer's alone."""
    with_gold = given.with_gold
    others = [one for one in given.questions if not one.answerable]
    passages = await system.container.calibrate_support.passages(given.workspace, MOST_READ, 1)
    made = made_set(passages, OWN_QUESTIONS, 1)
    own = await supports(system, given.workspace, [one for one in made if one.kind == KNOWN_ITEM])

    async def found(questions: Sequence[EvalQuestion]) -> list[float]:
        return [one.support for one in await supports(system, given.workspace, questions)]

    removed = await supports(system, given.workspace, [replace(one, without=one.gold_ids) for one in with_gold])
    unanswerable = await supports(system, given.workspace, others)
    hops = _without_answer(with_gold, documents_of(given.name)) if given.name in MULTI_HOP else []
    return Supports(
        given.name,
        await found(with_gold),
        [one.support for one in removed],
        [one.support for one in unanswerable],
        await found(hops),
        calibrate(own, ERROR / EASIER).threshold,
        [one.abstained for one in removed],
        [one.abstained for one in unanswerable],
        [one.support for one in own],
    )


def _without_answer(questions: Sequence[EvalQuestion], documents: Sequence[EvalDocument]) -> list[EvalQuestion]:
    texts = {one.document_id: normalise(f"{one.title} {one.text}") for one in documents}
    found: list[EvalQuestion] = []
    for one in questions:
        holding = [gold for gold in one.gold_ids if any(normalise(answer) in texts[gold] for answer in one.answers)]
        if len(holding) == 1 and len(one.gold_ids) > 1:
            found.append(replace(one, without=(holding[0],)))
    return found


def abstention_rows(sets: Sequence[Supports]) -> list[Row]:
    """The rows of the sets that were asked."""
    rows = [row for names, must in REMOVED.items() if (row := _removed(sets, names, must)) is not None]
    for one in sets:
        if one.unanswerable:
            caught = below_users_line(one.answered, one.unanswerable)
            name = f"{one.name}: abstained on its own unanswerable questions"
            rows.append(Row(name, _share(caught), f"≥ {UNANSWERABLE:g}", 100 * fmean(caught) >= UNANSWERABLE))
        if one.answer_removed:
            caught = below_users_line(one.answered, one.answer_removed)
            rows.append(Row(f"{one.name}: abstained without the answer's passage", _share(caught), "reported", ok=True))
        caught = below_users_line(one.answered, one.answered)
        rows.append(Row(f"{one.name}: abstained though answerable, at that line", _share(caught), "reported", ok=True))
        rows += [*_by_default(one), _alike(one)]
    return [*rows, *_calibrated(sets)]


def _by_default(one: Supports) -> list[Row]:
    """The same with nothing set, by outcome."""
    rows: list[Row] = []
    if one.removed_by_default:
        name = f"{one.name}: abstained without its documents, nothing set"
        caught = [float(abstained) for abstained in one.removed_by_default]
        must = REMOVED_BY_DEFAULT.get(one.name)
        rows.append(share(name, caught) if must is None else at_least(name, caught, must))
    if one.unanswerable_by_default:
        name = f"{one.name}: abstained on its own unanswerable questions, nothing set"
        rows.append(at_least(name, [float(abstained) for abstained in one.unanswerable_by_default], UNANSWERABLE))
    return rows


def _alike(one: Supports) -> Row:
    """How far the supports of made questions lie from those of people's (Kolmogorov–Smirnov)."""
    places = sorted({*one.own, *one.answered})
    shares = [
        [bisect_right(sorted(values), place) / len(values) for place in places] for values in (one.own, one.answered)
    ]
    apart = max(abs(made - asked) for made, asked in zip(*shares, strict=True))
    shown = f"{apart:.2f}; 5 % quantiles {_line(one.own):.2f} and {_line(one.answered):.2f}"
    name = f"{one.name}: distance of the supports of made questions and of people's"
    return Row(name, shown, f"≤ {MOST_APART:g}", apart <= MOST_APART)


def below_users_line(answered: Sequence[float], judged: Sequence[float]) -> list[float]:
    """1 for each that is abstained on at the line that a user reaches: `rag eval calibrate --dataset` draws it for
    `ERROR` from the other half of the set's questions, so that no question is judged by a line that it drew. Where both
    are of the same questions, they are in the same order.
    """
    lines = [conformal_threshold(answered[1 - half :: 2], ERROR) for half in (0, 1)]
    return [float(support < lines[place % 2]) for place, support in enumerate(judged)]


def _line(answered: Sequence[float]) -> float:
    """The highest line below which at most `ERROR` of them lie."""
    return sorted(answered)[math.floor(ERROR * len(answered))]


def _removed(sets: Sequence[Supports], names: Sequence[str], must: float) -> Row | None:
    chosen = [one for one in sets if one.name in names]
    if len(chosen) < len(names):
        return None
    caught = [hit for one in chosen for hit in below_users_line(one.answered, one.removed)]
    name = f"{', '.join(names)}: abstained without their documents"
    return Row(name, _share(caught), f"≥ {must:g}", 100 * fmean(caught) >= must)


def _calibrated(sets: Sequence[Supports]) -> list[Row]:
    rows: list[Row] = []
    wrongly = asked = 0
    for one in sets:
        hits = sum(support < one.own_threshold for support in one.answered)
        wrongly, asked = wrongly + hits, asked + len(one.answered)
        ok = chance_of_at_least(hits, len(one.answered), ERROR) >= SIGNIFICANCE
        caught = fmean(support < one.own_threshold for support in one.removed)
        shown = f"{_exact(hits, len(one.answered))} at {one.own_threshold:.2f}; without documents {100 * caught:.0f}"
        name = f"{one.name}: abstained though answerable, calibrated on its corpus"
        rows.append(Row(name, shown, f"≤ {100 * ERROR:g}, exact", ok))
    if sets:
        share = wrongly / asked
        rows.append(Row("all sets: the same", _exact(wrongly, asked), f"≤ {100 * OVER_ALL:g}", share <= OVER_ALL))
    return rows


def _share(caught: Sequence[float]) -> str:
    return _exact(int(sum(caught)), len(caught))


def _exact(hits: int, of: int) -> str:
    low, high = binomial_interval(hits, of)
    return f"{100 * hits / of:.1f} [{100 * low:.0f}, {100 * high:.0f}]"
