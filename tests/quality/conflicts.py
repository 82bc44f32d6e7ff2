"""Sources that disagree: pairs of documents by templates, half of which contradict each other about what is asked
(every second template was held out while the rules were written), and the documents of RAMDocs, some of which mislead.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agentic_rag.answering.answer import Outcome
from agentic_rag.answering.question import AnswerOptions, CacheMode
from agentic_rag_eval.metrics import normalise
from agentic_rag_eval.support_calibration import binomial_interval
from tests.bench.reports import Row
from tests.quality.sets import DATA
from tests.unit.answering.answering_world import World
from tests.unit.answering.corpus import Corpus

CONFLICTS = "conflicts"
MUST = 90.0
ALL_RIGHT, MISLED = 35.0, 12.0
BYPASS = AnswerOptions(cache=CacheMode.BYPASS)

VALUES = (
    ("Skerry", "Otter Voe", "Maren Tollack", "Ida Voss", "Port Aldery", "Lunna Haven", "40", "45", "2021", "2022"),
    ("Halden", "Brae Ness", "Tobias Aarle", "Wilf Hastane", "Kelvin Bridge", "Stanmoor", "12", "18", "2019", "2020"),
    ("Corvane", "Upper Fold", "Petra Lindqvist", "Samuel Okoro", "Marlow", "Easterby", "250", "320", "2016", "2018"),
    ("Tindall", "Grey Sound", "Hugo Brandt", "Leila Farouk", "Norwick", "Ashcombe", "7", "9", "2012", "2015"),
    ("Vantrel", "Low Marsh", "Greta Moss", "Anton Reyes", "Redcliff", "Hollin", "1,500", "1,800", "2023", "2024"),
    ("Ombrey", "Far Point", "Nils Ekholm", "Rosa Quint", "Danforth", "Wexley", "65", "80", "2008", "2010"),
    ("Sarnell", "Mill Reach", "Clara Duval", "Owen Pryce", "Thornby", "Calder", "3", "5", "2017", "2021"),
    ("Brannoch", "West Hythe", "Ivo Marin", "Dina Salter", "Ellery", "Farrow", "90", "120", "2014", "2019"),
    ("Quillan", "Stone Ford", "Edda Krause", "Mark Tansley", "Lorne", "Pickwell", "22", "28", "2011", "2013"),
    ("Yarrowby", "Deep Wick", "Fay Donnelly", "Karl Jessen", "Moorgate", "Silverton", "600", "750", "2020", "2023"),
)
NAMES = ("firm", "site", "person", "other", "place", "elsewhere", "few", "many", "then", "later")


@dataclass(frozen=True, slots=True)
class Template:
    """A question and two documents (title, text) with names of `NAMES` in braces."""

    question: str
    left: tuple[str, str]
    right: tuple[str, str]
    outcome: Outcome


def _disagree(question: str, left: tuple[str, str], right: tuple[str, str]) -> Template:
    return Template(question, left, right, Outcome.CONFLICTING)


def _agree(question: str, left: tuple[str, str], right: tuple[str, str]) -> Template:
    return Template(question, left, right, Outcome.GROUNDED)


TEMPLATES: tuple[Template, ...] = (
    _disagree(
        "How many tonnes does the crane at {site} lift?",
        ("Crane manual", "The crane at {site} lifts at most {few} tonnes."),
        ("Yard handbook", "The crane at {site} lifts at most {many} tonnes."),
    ),
    _disagree(
        "How long is the notice period at {firm}?",
        ("Contract", "The notice period at {firm} is {few} days."),
        ("Staff leaflet", "At {firm}, the notice period is {many} days."),
    ),
    _disagree(
        "Who founded {firm} Tidal?",
        ("History", "{firm} Tidal was founded by {person}."),
        ("Press kit", "{firm} Tidal was founded by {other}."),
    ),
    _disagree(
        "Who manages the site at {site}?",
        ("Staff list", "{person} manages the site at {site}."),
        ("Site page", "The site at {site} is managed by {other}."),
    ),
    _disagree(
        "Where is the head office of {firm} Marine?",
        ("Overview", "The head office of {firm} Marine is in {place}."),
        ("Address list", "The head office of {firm} Marine is in {elsewhere}."),
    ),
    _disagree(
        "Where was {firm} Airways based?",
        ("Encyclopedia", "{firm} Airways was an airline based in {place}."),
        ("Archive", "{firm} Airways was an airline based in {elsewhere}. It flew for ten years."),
    ),
    _disagree(
        "When was the site at {site} commissioned?",
        ("Report", "The site at {site} was commissioned on 9 May {then}."),
        ("Chronicle", "The site at {site} was commissioned on 14 June {later}."),
    ),
    _disagree(
        "When was the lighthouse at {site} built?",
        ("Guide", "The lighthouse at {site} was built in {then}."),
        ("Register", "The lighthouse at {site}, which still works, was built in {later}."),
    ),
    _disagree(
        "By what time does the coordinator at {site} issue the sailing decision?",
        ("Marine policy", "The coordinator at {site} issues the sailing decision by 06:00 each day."),
        ("Shift rules", "The coordinator at {site} issues the sailing decision by 07:30 each day."),
    ),
    _disagree(
        "How many days of leave do staff of {firm} get?",
        ("Contract of 3 March {then}", "Staff of {firm} get {few} days of leave a year."),
        ("Amendment of 1 July {later}", "Staff of {firm} now get {many} days of leave a year."),
    ),
    _disagree(
        "What is the wave limit for crew transfer at {site}?",
        ("Memo", "The wave limit for crew transfer at {site} is 1.5 m."),
        ("Correction of the memo", "The wave limit for crew transfer at {site} is corrected from 1.5 m to 1.8 m."),
    ),
    _disagree(
        "What is the pump rate of {firm} P-3?",
        ("Data sheet", "| Pump | Rate | Weight |\n|---|---|---|\n| {firm} P-3 | {few} l/min | 20 kg |"),
        ("Price list", "| Pump | Rate | Weight |\n|---|---|---|\n| {firm} P-3 | {many} l/min | 20 kg |"),
    ),
    _agree(
        "How many tonnes does the crane at {site} lift?",
        ("Crane manual", "The crane at {site} lifts at most {few} tonnes."),
        ("Yard handbook", "The winch at {site} lifts at most {many} tonnes."),
    ),
    _agree(
        "How many ships did the harbour of {site} serve in {then}?",
        ("Report {then}", "The harbour of {site} served {few} ships in {then}."),
        ("Report {later}", "The harbour of {site} served {many} ships in {later}."),
    ),
    _agree(
        "How long is the pier at {site}?",
        ("Guide", "The pier at {site} is 1.5 km long."),
        ("Survey", "The pier at {site} is 1,500 m long."),
    ),
    _agree(
        "When was the site at {site} commissioned?",
        ("Report", "The site at {site} was commissioned on 31 March {then}."),
        ("Register", "The site at {site} was commissioned on {then}-03-31."),
    ),
    _agree(
        "How many employees does {firm} Marine have?",
        ("Overview", "{firm} Marine has {many} employees."),
        ("Office list", "{firm} Marine has {few} employees in {place}."),
    ),
    _agree(
        "How many people work at {firm} Tidal?",
        ("Overview", "{firm} Tidal has {many} employees in total."),
        ("Workshop page", "The workshop of {firm} Tidal has {few} employees."),
    ),
    _agree(
        "What did the new pier at {site} cost?",
        ("Accounts", "The new pier at {site} cost {many} million euros."),
        ("Budget", "The planned cost of the new pier at {site} was {few} million euros."),
    ),
    _agree(
        "How much power did the park at {site} produce?",
        ("Report", "The park at {site} produced {many} MWh."),
        ("Forecast", "The park at {site} was expected to produce {few} MWh."),
    ),
    _agree(
        "Who founded {firm} Tidal?",
        ("History", "{firm} Tidal was founded by {person}."),
        ("Press kit", "{firm} Power was founded by {other}."),
    ),
    _agree(
        "Who manages the site at {site}?",
        ("Staff list", "The site at {site} is managed by {person}."),
        ("Site page", "The yard at {site} is managed by {other}."),
    ),
    _agree(
        "How long do visitors of {site} wait for a permit?",
        ("Visitors", "Visitors of {site} wait two weeks for a permit."),
        ("Permits", "Visitors of {site} wait 14 days for a permit."),
    ),
    _agree(
        "Where is the head office of {firm} Marine?",
        ("Overview", "The head office of {firm} Marine is in {place}, Norway."),
        ("Address list", "The head office of {firm} Marine is in {place}."),
    ),
)


@dataclass(frozen=True, slots=True)
class Pair:
    """A template filled in, and what came out."""

    template: int
    question: str
    expected: Outcome
    found: Outcome
    text: str

    @property
    def is_right(self) -> bool:
        """What does not contradict may be answered or abstained on: only a conflict would be wrong."""
        return (self.found is Outcome.CONFLICTING) == (self.expected is Outcome.CONFLICTING)


async def asked() -> list[Pair]:
    """Every template with every row of values, each pair in a corpus of its own."""
    return [await _ask(place, template, values) for place, template in enumerate(TEMPLATES) for values in VALUES]


async def _ask(place: int, template: Template, values: Sequence[str]) -> Pair:
    def fill(text: str) -> str:
        for name, value in zip(NAMES, values, strict=True):
            text = text.replace(f"{{{name}}}", value)
        return text

    corpus = Corpus()
    for number, (title, text) in enumerate((template.left, template.right)):
        corpus.add(f"{number}.md", fill(title), fill(text))
    corpus.add("other.md", "Visitors", "Visitors sign in at the gate and wear a badge.", "Lunch is served at noon.")
    world = World(corpus)
    answer = (await world.ask(fill(template.question), options=BYPASS)).answer
    await world.recorder.aclose()
    return Pair(place, fill(template.question), template.outcome, answer.outcome, answer.text)


def conflict_rows(pairs: Sequence[Pair]) -> Iterator[Row]:
    """The share of right outcomes, of all templates and of those held out."""
    for name, chosen in (("all", pairs), ("templates held out", [one for one in pairs if one.template % 2])):
        right = sum(one.is_right for one in chosen)
        ok = 100 * right >= MUST * len(chosen)
        yield Row(f"conflict pairs, {name}: right outcome", _share(right, len(chosen)), f"≥ {MUST:g}", ok)


@dataclass(frozen=True, slots=True)
class Reading:
    """What an answer over the documents of a RAMDocs question says."""

    is_all_right: bool
    """Every right answer and no wrong one."""
    is_misled: bool
    """A wrong answer, without a conflict being said."""


async def read_ramdocs() -> list[Reading]:
    """Every question over its own documents."""
    found: list[Reading] = []
    for line in (DATA / "ramdocs" / "questions.dev.jsonl").read_text().splitlines():
        row = json.loads(line)
        corpus = Corpus()
        for number, document in enumerate(row["documents"]):
            corpus.add(f"{number}.txt", f"Document {number}", document["text"])
        world = World(corpus)
        answer = (await world.ask(row["question"], options=BYPASS)).answer
        await world.recorder.aclose()
        text = normalise(answer.text)
        is_wrong = any(normalise(one) in text for one in row["wrong_answers"])
        is_right = all(normalise(one) in text for one in row["gold_answers"])
        is_said = answer.outcome is Outcome.CONFLICTING
        found.append(Reading(is_right and not is_wrong, is_wrong and not is_said))
    return found


def ramdocs_rows(readings: Sequence[Reading]) -> Iterator[Row]:
    """The shares of answers that are all right, and that repeat misinformation as if nobody disagreed."""
    right = sum(one.is_all_right for one in readings)
    misled = sum(one.is_misled for one in readings)
    count = len(readings)
    yield Row(
        "ramdocs: all right answers and no wrong one",
        _share(right, count),
        f"≥ {ALL_RIGHT:g}",
        100 * right >= ALL_RIGHT * count,
    )
    yield Row(
        "ramdocs: misinformation without CONFLICTING",
        _share(misled, count),
        f"≤ {MISLED:g}",
        100 * misled <= MISLED * count,
    )


def _share(hits: int, of: int) -> str:
    low, high = binomial_interval(hits, of)
    return f"{100 * hits / of:.1f} [{100 * low:.0f}, {100 * high:.0f}] of {of}"


async def disagreement_rows() -> list[Row]:
    """All rows of this module."""
    return [*conflict_rows(await asked()), *ramdocs_rows(await read_ramdocs())]


def main() -> None:
    """Print the rows, and each wrong pair of the templates that may be looked at."""
    pairs = asyncio.run(asked())
    for one in pairs:
        if not one.is_right and one.template % 2 == 0:
            print(one.template, one.expected.value, one.found.value, one.question, "→", one.text)
    for row in (*conflict_rows(pairs), *ramdocs_rows(asyncio.run(read_ramdocs()))):
        print(row)


if __name__ == "__main__":
    main()
