"""Decisions to take: made from a number, so that every process takes the same ones."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass, fields
from random import Random

from agentic_rag.answering.gate.decide import GateRules, Seeds, decide
from agentic_rag.answering.gate.intent import AskedIntent, Intent
from agentic_rag.answering.gate.policy import WebPolicy
from agentic_rag.answering.gate.signals import ProbeSigns, QuestionSigns
from agentic_rag.answering.gate_decision import GateDecision

MODES = ("off", "shadow", "on")
WORDS = ("tariff", "Otter Voe", "wave limit", "Größe", "поезд", "https://example.org/a")


@dataclass(frozen=True, slots=True)
class Situation:
    """What a decision is taken on."""

    question: QuestionSigns
    probe: ProbeSigns | None
    rules: GateRules
    seeds: Seeds

    def decide(self) -> GateDecision:
        """By the weights in force."""
        return decide(self.question, self.probe, self.rules, self.seeds)


def situations(count: int) -> Iterator[Situation]:
    """Every signal at both ends and between, every level, mode and position of the knob."""
    random = Random(21)

    def value() -> float:
        return random.choice((0.0, 1.0, round(random.random(), 6)))

    def flag() -> float:
        return float(random.random() < 0.1)

    for _ in range(count):
        intent = AskedIntent(random.choice(list(Intent)), value())
        question = QuestionSigns(flag(), flag(), flag(), flag(), flag(), value(), intent)
        probe = None if random.random() < 0.1 else ProbeSigns(*(value() for _ in fields(ProbeSigns)))
        policy = WebPolicy(random.random() < 0.7, random.random() < 0.7, random.choice((None, True, False)))
        flags = random.random() < 0.7, random.random() < 0.7
        rules = GateRules(policy, value(), value(), *flags, value(), random.choice(MODES))
        seeds = Seeds(*(tuple(random.sample(WORDS, random.randrange(len(WORDS) + 1))) for _ in range(2)))
        yield Situation(question, probe, rules, seeds)


def digest(count: int) -> str:
    """Of so many decisions, as text."""
    told = hashlib.sha256()
    for one in situations(count):
        decision = one.decide()
        told.update(f"{decision} {dict(decision.thresholds)}\n".encode())
    return told.hexdigest()


if __name__ == "__main__":
    print(digest(int(sys.argv[1])))
