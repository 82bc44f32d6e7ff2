"""Labelled cases of the gate: what a run's signals were, and what a search would have changed."""

from __future__ import annotations

import enum
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Annotated

import msgspec

from agentic_rag.answering.gate.decide import plan_for, sum_up, weigh
from agentic_rag.answering.gate.weights import GateWeights
from agentic_rag.kernel.clock import with_zone
from agentic_rag.kernel.errors import InvalidInput


class CaseKind(enum.Enum):
    """Where the answer to a question is."""

    INSIDE = "inside"
    """In the documents."""
    IN_TIME = "in_time"
    """In the documents; the question needs them new, and they are."""
    MISSING = "missing"
    """Not in the documents."""
    STALE = "stale"
    """In documents that are too old for the question."""


SHARES: Mapping[CaseKind, float] = MappingProxyType(
    {CaseKind.INSIDE: 0.65, CaseKind.IN_TIME: 0.05, CaseKind.MISSING: 0.2, CaseKind.STALE: 0.1}
)
"""What each kind weighs within a set: a workspace whose documents answer seven questions of ten. Set by hand: nobody
has counted what users ask, and with more than 40 % outside no gate could keep to 40 % of the calls.
"""
ALLOWED = 0.5
"""The signal `policy` of a workspace that allows the web, of which cases are told."""


@dataclass(frozen=True, slots=True)
class GateCase:
    """A question under one condition, with the signals that the gate had."""

    set_name: str
    case_id: str
    kind: CaseKind
    signals: Mapping[str, float]
    answered: bool
    """Without a search the answer cites a document that answers the question, and is in time."""
    answered_outside: bool
    """The same with a search. It finds what was left out, and newer readings of what is too old."""
    at: str | None = None
    """When it was decided (ISO 8601, in UTC), of a captured decision."""

    @property
    def needs_search(self) -> bool:
        """A search answers what the documents do not."""
        return self.answered_outside and not self.answered


Searches = Callable[[GateCase], bool]
"""Whether a gate looks outside."""


@dataclass(frozen=True, slots=True)
class GateScore:
    """A gate against one that always searches, with every set and every kind within a set by its share."""

    cases: int
    answered: float
    """Of what always searching answers."""
    calls: float
    """Of the calls of always searching."""
    precision: float
    recall: float
    """Of the cases that need a search."""

    @property
    def f1(self) -> float:
        """Of finding the cases that need a search."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


def searches_by(weights: GateWeights, care: float = 0.5) -> Searches:
    """What a gate with these weights does."""
    thresholds = weights.thresholds(care)
    return lambda case: plan_for(score_of(case, weights), thresholds) != "retrieve"


def score_of(case: GateCase, weights: GateWeights) -> float:
    """The score that weights give a case where the web is allowed."""
    return sum_up(weigh({**case.signals, "policy": ALLOWED}, weights))


def shares_of(cases: Sequence[GateCase]) -> list[float]:
    """What each case weighs; all sum to 1. A kind that a set lacks leaves its share to the set's other ones. Captured
    cases, which all have an instant, weigh the same: they come as often as they do.
    """
    if all(one.at is not None for one in cases):
        return [1 / len(cases)] * len(cases)
    counts = Counter((one.set_name, one.kind) for one in cases)
    wholes: dict[str, float] = {}
    for name, kind in counts:
        wholes[name] = wholes.get(name, 0.0) + SHARES[kind]
    return [SHARES[one.kind] / counts[one.set_name, one.kind] / wholes[one.set_name] / len(wholes) for one in cases]


def judge_gate(cases: Sequence[GateCase], searches: Searches) -> GateScore:
    """How the gate stands against always searching. Errors: `InvalidInput` where always searching answers nothing."""
    whole = kept = calls = needed = found = 0.0
    for one, share in zip(cases, shares_of(cases), strict=True):
        is_called = searches(one)
        whole += share * one.answered_outside
        kept += share * (one.answered_outside if is_called else one.answered)
        calls += share * is_called
        needed += share * one.needs_search
        found += share * (is_called and one.needs_search)
    if not whole:
        raise InvalidInput("No case is answered with a search: there is nothing to judge by.", code="DATASET_INVALID")
    return GateScore(
        len(cases), kept / whole, calls, found / calls if calls else 1.0, found / needed if needed else 1.0
    )


def calls_to_keep(cases: Sequence[GateCase], rank: Callable[[GateCase], float], answered: float) -> float:
    """The share of the calls of always searching that keeps the share `answered` of its answers where the cases of the
    highest rank are called first; of cases of equal rank, as many as it takes, drawn at random.
    """
    shares = shares_of(cases)
    gains: dict[float, tuple[float, float]] = {}
    for one, share in zip(cases, shares, strict=True):
        called, gained = gains.get(rank(one), (0.0, 0.0))
        gains[rank(one)] = called + share, gained + share * (one.answered_outside - one.answered)
    whole = sum(share for one, share in zip(cases, shares, strict=True) if one.answered_outside)
    wanted = answered * whole - sum(share for one, share in zip(cases, shares, strict=True) if one.answered)
    calls = 0.0
    for place in sorted(gains, reverse=True):
        called, gained = gains[place]
        if wanted <= 0:
            break
        part = 1.0 if gained <= wanted else wanted / gained
        calls, wanted = calls + part * called, wanted - part * gained
    return calls


def save_cases(path: Path, cases: Iterable[GateCase]) -> None:
    """Write them, one JSON object a line, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.part")
    beside.write_text("".join(f"{_line(one)}\n" for one in cases), encoding="utf-8")
    beside.replace(path)


def load_cases(*paths: Path) -> list[GateCase]:
    """Read them. Of a case that stands twice, in one file or in two, the last one counts: what is known of a run grows.
    Errors: `InvalidInput` code DATASET_MISSING, or DATASET_INVALID naming the line.
    """
    found = [one for path in paths for one in _read(path)]
    return [*{(one.set_name, one.case_id): one for one in found}.values()]


def digest_of(cases: Iterable[GateCase]) -> str:
    """SHA-256 of the cases, whatever their order."""
    return hashlib.sha256("\n".join(sorted(map(_line, cases))).encode()).hexdigest()


def _line(case: GateCase) -> str:
    told = {
        "set": case.set_name,
        "id": case.case_id,
        "kind": case.kind.value,
        "signals": dict(case.signals),
        "answered": case.answered,
        "answered_outside": case.answered_outside,
        **({} if case.at is None else {"at": case.at}),
    }
    return json.dumps(told, ensure_ascii=False, sort_keys=True)


class _Row(msgspec.Struct):
    """A line of a file of cases."""

    set: str
    id: str
    kind: CaseKind
    signals: dict[str, Annotated[float, msgspec.Meta(ge=0, le=1)]]
    answered: bool
    answered_outside: bool
    at: str | None = None


def _read(path: Path) -> Iterator[GateCase]:
    if not path.is_file():
        raise InvalidInput(f"There are no cases at {path}.", code="DATASET_MISSING")
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        if line.strip():
            yield _case(line, f"{path}:{number}")


def _case(line: bytes, where: str) -> GateCase:
    try:
        row = msgspec.json.decode(line, type=_Row)
        if row.answered and not row.answered_outside:
            raise ValueError("what the documents answer is answered with a search too")
        at = None if row.at is None else with_zone(datetime.fromisoformat(row.at)).astimezone(UTC).isoformat()
    except (ValueError, OverflowError) as problem:
        raise InvalidInput(
            f"{where}: expected set, id, kind, signals, answered, answered_outside ({problem}).", code="DATASET_INVALID"
        ) from problem
    return GateCase(row.set, row.id, row.kind, row.signals, row.answered, row.answered_outside, at)
