"""What is told while something is away, judged as text: by commands, answers, logs and attempts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

STORES = ("Postgres", "Redis", "Neo4j")
EVENTS: Mapping[str, str] = {
    "rag_job_not_leased": "Postgres",
    "rag_job_ending_not_recorded": "Postgres",
    "rag_queue_unreachable": "Redis",
    "rag_rate_limits_local": "Redis",
    "rag_dead_letter_not_mirrored": "Redis",
    "rag_graph_unreachable": "Neo4j",
    "rag_graph_step_repeated": "Neo4j",
}
"""Events that say by their name that a store does not answer, or not in time."""
OF_A_LEASE = "rag_lease_renewal_failed"
AWAY = "DEPENDENCY_UNAVAILABLE"
NOTHING = "nothing"
"""What `rag doctor` finds when all is well."""


def blamed(line: str) -> set[str]:
    """The stores of which a line of a log (JSON), or an attempt's error, says that they do not answer."""
    named = {store for store in STORES if store in line}
    if not line.startswith("{"):
        return named
    told: dict[str, Any] = json.loads(line)
    event = told.get("event", "")
    if event == OF_A_LEASE and told.get("code") == AWAY:
        named.add("Postgres")
    return named | ({EVENTS[event]} if event in EVENTS else set())


def warnings(logs: Iterable[Path], attempts: Iterable[Mapping[str, Any]]) -> Counter[str]:
    """The lines of logs that are no traceback, and the errors of attempts (`error_code`, `error_chain`)."""
    logged = [line for log in logs for line in log.read_text("utf-8", "replace").splitlines() if line.startswith("{")]
    return Counter([*logged, *(f"{row['error_code']} {' '.join(row['error_chain'])}" for row in attempts)])


@dataclass
class Remedies:
    """What was told during the disturbances, and what of it is wrong."""

    looks: int = 0
    wrong: list[str] = field(default_factory=list[str])

    def judge(self, when: str, told: str, *, right: bool) -> None:
        self.looks += 1
        if not right:
            self.wrong.append(f"{when}: {' '.join(told.split())[:300]}")

    def told(self, when: str, told: str, *words: str) -> None:
        """It must hold each of the words."""
        self.judge(when, told, right=all(word in told for word in words))

    def only(self, when: str, told: str, line: str) -> None:
        """It must be one line, which begins like this: nothing else is told."""
        self.judge(when, told, right=told.startswith(line) and len(told.splitlines()) == 1)

    def nothing(self, when: str, told: str) -> None:
        """Nothing is found."""
        self.judge(when, told, right=told == NOTHING)

    def blames(self, when: str, told: Sequence[str], store: str = "") -> None:
        """The named store is said not to answer, by one message at least, and no other is by any."""
        wrong = [line for line in told if blamed(line) - {store}]
        self.judge(f"{when}, blamed", " | ".join(wrong), right=not wrong)
        if store:
            named = any(store in blamed(line) for line in told)
            self.judge(f"{when}, named", " | ".join(told) or "no message", right=named)
