"""How often questions are abstained on that the corpus answers, and that it does not answer.

What is judged at a line is judged by questions that neither the line nor the weights of the support have seen: the
supports of a set are those that weights give which were fitted on the other sets of the run.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean

import numpy as np
from eval.training.fit_support import Floats, SupportSet, fit_weights, sigmoid

from agentic_rag_cli.commands.evaluation.calibrate import made_set, supports
from agentic_rag_cli.in_process import System
from agentic_rag_eval.calibration_job import MOST_READ
from agentic_rag_eval.metrics import normalise
from agentic_rag_eval.own_questions import EASIER, KNOWN_ITEM
from agentic_rag_eval.records import EvalDocument, EvalQuestion
from agentic_rag_eval.support_calibration import (
    AskedSupport,
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


FEWEST_OTHERS = 2
"""Families of sets that weights are fitted on to judge another."""
SEEN = ", by weights that saw it"


@dataclass(frozen=True, slots=True)
class Supports:
    """The supports of one set's questions, by what the corpus held for them."""

    name: str
    answered: list[AskedSupport]
    removed: list[AskedSupport]
    """Asked without any of their documents."""
    unanswerable: list[AskedSupport]
    answer_removed: list[AskedSupport]
    """Asked without the one document that holds the answer, of several."""
    own: list[AskedSupport]
    """Of the questions made from the corpus."""

    @property
    def own_threshold(self) -> float:
        """Calibrated on questions made from the corpus alone."""
        return calibrate(self.own, ERROR / EASIER).threshold

    @property
    def family(self) -> str:
        """Sets of one family are parts of one collection: weights that saw one have seen the other."""
        return self.name.partition("-")[0]

    def scored(self, weights: Floats) -> Supports:
        """The same with the supports that these weights give."""

        def by_weights(asked: Sequence[AskedSupport]) -> list[AskedSupport]:
            return [replace(one, support=float(sigmoid(np.array(one.signs) @ weights))) for one in asked]

        return Supports(
            self.name,
            by_weights(self.answered),
            by_weights(self.removed),
            by_weights(self.unanswerable),
            by_weights(self.answer_removed),
            by_weights(self.own),
        )


def weights_without(sets: Sequence[Supports], family: str) -> Floats | None:
    """Fitted on the sets of other families; None where there are too few."""
    others = [one for one in sets if one.family != family and one.answered and (one.removed or one.unanswerable)]
    if len({one.family for one in others}) < FEWEST_OTHERS:
        return None
    return fit_weights([SupportSet(one.name, (*one.answered, *one.removed, *one.unanswerable)) for one in others])


async def supports_of(system: System, given: QuestionSet) -> Supports:
    """Asks every question with and without its documents; of sets of several hops also without the answer's alone."""
    with_gold = given.with_gold
    others = [one for one in given.questions if not one.answerable]
    passages = await system.container.calibrate_support.passages(given.workspace, MOST_READ, 1)
    made = made_set(passages, OWN_QUESTIONS, 1)
    own = await supports(system, given.workspace, [one for one in made if one.kind == KNOWN_ITEM])

    hops = _without_answer(with_gold, documents_of(given.name)) if given.name in MULTI_HOP else []
    without = [replace(one, without=one.gold_ids) for one in with_gold]
    removed = await supports(system, given.workspace, without)
    unanswerable = await supports(system, given.workspace, others)
    answered = await supports(system, given.workspace, with_gold)
    return Supports(given.name, answered, removed, unanswerable, await supports(system, given.workspace, hops), own)


def _without_answer(questions: Sequence[EvalQuestion], documents: Sequence[EvalDocument]) -> list[EvalQuestion]:
    texts = {one.document_id: normalise(f"{one.title} {one.text}") for one in documents}
    found: list[EvalQuestion] = []
    for one in questions:
        holding = [gold for gold in one.gold_ids if any(normalise(answer) in texts[gold] for answer in one.answers)]
        if len(holding) == 1 and len(one.gold_ids) > 1:
            found.append(replace(one, without=(holding[0],)))
    return found


def abstention_rows(sets: Sequence[Supports]) -> list[Row]:
    """The rows of the sets that were asked. Where too few other sets were, what is judged at a line is only told."""
    weights = {one.family: weights_without(sets, one.family) for one in sets}
    judged = [one if (by := weights[one.family]) is None else one.scored(by) for one in sets]
    rows = [row for names, must in REMOVED.items() if (row := _removed(judged, names, must)) is not None]
    for one in judged:
        if one.unanswerable:
            caught = below_users_line(values(one.answered), values(one.unanswerable))
            name = f"{one.name}: abstained on its own unanswerable questions"
            rows.append(Row(name, _share(caught), f"≥ {UNANSWERABLE:g}", 100 * fmean(caught) >= UNANSWERABLE))
        if one.answer_removed:
            caught = below_users_line(values(one.answered), values(one.answer_removed))
            rows.append(Row(f"{one.name}: abstained without the answer's passage", _share(caught), "reported", ok=True))
        caught = below_users_line(values(one.answered), values(one.answered))
        rows.append(Row(f"{one.name}: abstained though answerable, at that line", _share(caught), "reported", ok=True))
    rows += _calibrated(judged)
    told = [_only_told(row) for row in rows] if any(one is None for one in weights.values()) else rows
    for one in sets:
        told += [*_by_default(one), _alike(one)]
    return told


def values(asked: Sequence[AskedSupport]) -> list[float]:
    return [one.support for one in asked]


def _only_told(row: Row) -> Row:
    return replace(row, name=f"{row.name}{SEEN}", must="reported", ok=True)


def _by_default(one: Supports) -> list[Row]:
    """The same with nothing set, by outcome."""
    rows: list[Row] = []
    if one.removed:
        name = f"{one.name}: abstained without its documents, nothing set"
        caught = [float(asked.abstained) for asked in one.removed]
        must = REMOVED_BY_DEFAULT.get(one.name)
        rows.append(share(name, caught) if must is None else at_least(name, caught, must))
    if one.unanswerable:
        name = f"{one.name}: abstained on its own unanswerable questions, nothing set"
        rows.append(at_least(name, [float(asked.abstained) for asked in one.unanswerable], UNANSWERABLE))
    return rows


def _alike(one: Supports) -> Row:
    """How far the supports of made questions lie from those of people's (Kolmogorov–Smirnov)."""
    own, answered = sorted(values(one.own)), sorted(values(one.answered))
    places = sorted({*own, *answered})
    shares = [[bisect_right(found, place) / len(found) for place in places] for found in (own, answered)]
    apart = max(abs(made - asked) for made, asked in zip(*shares, strict=True))
    shown = f"{apart:.2f}; 5 % quantiles {_line(own):.2f} and {_line(answered):.2f}"
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
    caught = [hit for one in chosen for hit in below_users_line(values(one.answered), values(one.removed))]
    name = f"{', '.join(names)}: abstained without their documents"
    return Row(name, _share(caught), f"≥ {must:g}", 100 * fmean(caught) >= must)


def _calibrated(sets: Sequence[Supports]) -> list[Row]:
    rows: list[Row] = []
    wrongly = asked = 0
    for one in sets:
        line = one.own_threshold
        hits = sum(support < line for support in values(one.answered))
        wrongly, asked = wrongly + hits, asked + len(one.answered)
        ok = chance_of_at_least(hits, len(one.answered), ERROR) >= SIGNIFICANCE
        caught = fmean(support < line for support in values(one.removed))
        shown = f"{_exact(hits, len(one.answered))} at {line:.2f}; without documents {100 * caught:.0f}"
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
