"""What the clients of a soak wrote, and what an answer may say of it at the time it was asked."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import dataclass, field
from random import Random

PREFIXES = {"north": "11", "south": "22", "web": "33"}
"""The first digits of every serial number of a workspace, and of the web's."""
SERIAL = re.compile(r"\b(?:11|22|33)\d{8}\b")
"""Digits only: the product calls an answer GROUNDED that states them."""
FIRST = ("Amber", "Birch", "Cedar", "Dusky", "Ember", "Fallow", "Garnet", "Hazel", "Ivory", "Jade", "Larch", "Mossy")
SECOND = ("Falcon", "Heron", "Kestrel", "Lapwing", "Marten", "Otter", "Plover", "Raven", "Siskin", "Turnstone", "Wren")


@dataclass(frozen=True, slots=True)
class Fact:
    """A document that states the serial number of one unit."""

    workspace: str
    name: str
    serial: str

    @property
    def path(self) -> str:
        return f"{self.name.lower().replace(' ', '-')}.md"

    @property
    def text(self) -> bytes:
        """The document."""
        filler = f"The {self.name} is inspected every spring. Its housing is painted grey."
        return f"# Unit {self.name}\n\nThe serial number of the {self.name} is {self.serial}.\n\n{filler}\n".encode()

    @property
    def question(self) -> str:
        return f"What is the serial number of the {self.name}?"


def make_fact(workspace: str, number: int) -> Fact:
    """The fact of this number: the same names stand in every workspace, with other serial numbers."""
    name = f"{FIRST[number % len(FIRST)]} {SECOND[number // len(FIRST) % len(SECOND)]} {number}"
    digits = int.from_bytes(hashlib.sha256(f"{workspace} {number}".encode()).digest()) % 10**8
    return Fact(workspace, name, f"{PREFIXES[workspace.split()[0]]}{digits:08}")


@dataclass
class Ledger:
    """What the product acknowledged, and what it said wrongly since."""

    draw: Random
    numbers: Counter[str] = field(default_factory=Counter[str])
    kept: dict[str, Fact] = field(default_factory=dict[str, Fact])
    """By the document's public id: uploaded, and not deleted."""
    erased: dict[str, Fact] = field(default_factory=dict[str, Fact])
    """Deleted, and the client was told so."""
    unsure: dict[str, Fact] = field(default_factory=dict[str, Fact])
    """Its deletion was not acknowledged."""
    jobs: int = 0
    """Crawls that were accepted."""
    outcomes: Counter[str] = field(default_factory=Counter[str])
    foreign: int = 0
    """Answers with a serial number of another workspace."""
    stale: int = 0
    """Answers with one that was erased before the question was asked."""
    wrong: int = 0
    """Answers that are GROUNDED and do not state the serial number of the unit and no other."""
    rotations: int = 0
    """Revoked keys that were tried."""
    revoked: int = 0
    """Of them, those that were served."""
    refused: Counter[str] = field(default_factory=Counter[str])
    """Requests that were refused with a reason, by its code: what a fault may cause."""
    broken: Counter[str] = field(default_factory=Counter[str])
    """Requests that failed otherwise."""

    def new_fact(self, workspace: str) -> Fact:
        self.numbers[workspace] += 1
        return make_fact(workspace, self.numbers[workspace])

    def of(self, workspace: str) -> list[tuple[str, Fact]]:
        return [(key, fact) for key, fact in self.kept.items() if fact.workspace == workspace]

    def fact_to_ask(self, workspace: str) -> Fact | None:
        """Mostly one that is there, at times one that was erased lately."""
        gone = [fact for fact in [*self.erased.values()][-20:] if fact.workspace == workspace]
        if gone and self.draw.random() < 0.2:
            return self.draw.choice(gone)
        held = self.of(workspace)
        return self.draw.choice(held)[1] if held else None

    def judge(self, fact: Fact, erased_before: frozenset[str], outcome: str, said: str) -> None:
        """Judge an answer, with its quotes, to the question about `fact`."""
        self.outcomes[outcome] += 1
        serials = set(SERIAL.findall(said))
        own = fact.serial[:2]
        self.foreign += any(one[:2] not in (own, PREFIXES["web"]) for one in serials)
        self.stale += any(one in erased_before for one in serials)
        if outcome == "GROUNDED" and serials != {fact.serial}:
            self.wrong += 1
            print(f"  wrong, of {fact}: {said!r}")

    def erased_serials(self) -> frozenset[str]:
        return frozenset(fact.serial for fact in self.erased.values())
