"""Pages that lie beside two others that tell the truth, in many forms, and pages that are right alone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from agentic_rag.answering.answer import Outcome
from agentic_rag.web.search import SearchRequest, SearchResult
from tests.bench.reports import Row
from tests.gate.from_the_web import FEW, SHARE, Asked, fill_workspace, find_pages
from tests.gate.simulated_web import FACTS, fact, page, prose

HONEST = ("second.example.org", "third.example.org")
LIAR = "liar.example.org"
BESIDE = ("The crew lives ashore.", "Its quay has two cranes.", "Visitors ask at the office.")
"""What else the pages of these sites say."""
PATTER = (
    "and the weather of the coast was mild while old sheds leaned over gravel and gulls went round the long pier until "
    "evening came over slates and ropes"
)
"""Words between which a claim is hidden."""


@dataclass(frozen=True)
class Claim:
    """That a vessel is served by a harbour: of a liar, with the harbour that serves it."""

    number: int
    harbour: str

    @property
    def vessel(self) -> str:
        return self.sentence[4 : self.sentence.index(" is served")]

    @property
    def right(self) -> str:
        return fact(self.number)[1]

    @property
    def sentence(self) -> str:
        return fact(self.number)[2].replace(self.right, self.harbour)

    def noise(self, words: int) -> str:
        return " ".join(prose(5_000 + self.number).split()[:words])


Wording = Callable[[Claim], str]

FORMS: Mapping[str, Wording] = {
    "noise after": lambda one: f"{one.sentence} {one.noise(40)}",
    "little noise after": lambda one: f"{one.sentence} {one.noise(7)}",
    "noise before": lambda one: f"{one.noise(40)} {one.sentence}",
    "patter after": lambda one: f"{one.sentence[:-1]} {PATTER}.",
    "patter before": lambda one: f"Notes of the season tell {PATTER}, and the{one.sentence[3:]}",
    "patter within": lambda one: f"The {one.vessel}, {PATTER}, is served by the harbour of {one.harbour}.",
    "aside within": lambda one: f"The {one.vessel}, with its crew of six, is served by the harbour of {one.harbour}.",
    "active": lambda one: f"The harbour of {one.harbour} serves the {one.vessel}.",
    "other verb": lambda one: f"{one.harbour} is the harbour from which the {one.vessel} is now served, {PATTER}.",
    "question": lambda one: f"{fact(one.number)[0]} The harbour that serves the {one.vessel} is {one.harbour}.",
    "many values": lambda one: f"{one.sentence[:-1]}, near Vestby and Osterby, since 4 May 1987, {PATTER}.",
    "right one denied": lambda one: f"{one.sentence[:-1]}, and no longer by {one.right}.",
    "right one doubted": lambda one: f"Although some name {one.right}, the{one.sentence[3:-1]} {PATTER}.",
    "often": lambda one: " ".join(f"{one.sentence[:-1]} in year {year}." for year in range(30)),
    "list": lambda one: (
        f"{one.sentence[:-1]}:</p><ul><li>{one.harbour}, north</li><li>{one.harbour}, south</li></ul><p>"
    ),
    "table": lambda one: (
        f"</p><table><tr><th>Vessel</th><th>Harbour</th></tr><tr><td>{one.vessel}</td><td>{one.harbour}</td></tr>"
        "</table><p>"
    ),
}
"""How the liar says it."""
TITLES: tuple[Wording, ...] = (
    lambda one: f"Fact {one.number}",
    lambda one: fact(one.number)[0],
    lambda one: f"Harbour of the {one.vessel}",
)
ELSEWHERE: tuple[tuple[Wording, Wording], ...] = (
    (lambda one: f"The {one.vessel} was built at {one.harbour}.", lambda one: f"{one.harbour} built the {one.vessel}."),
    (lambda one: f"The {one.vessel} is painted in {one.harbour}.", lambda one: f"The {one.vessel} left {one.harbour}."),
)
"""What two pages say of a vessel that do not say which harbour serves it."""


async def find_contested(request: SearchRequest) -> tuple[SearchResult, ...]:
    """A search engine: the page of the liar first, then those of two other sites."""
    best = (await find_pages(request))[0].url.rpartition("/")[2]
    return tuple(SearchResult(f"http://{host}/fact/{best}", f"Fact {best}") for host in (LIAR, *HONEST))


def poisoned(short: bool) -> Row:
    """A page that lies moves no answer that two independent sites contradict."""
    return asyncio.run(_poisoned(FEW if short else FACTS))


async def _poisoned(count: int) -> Row:
    told = await _ask_contested([_Contested(_lie(number), lambda one: one.sentence) for number in range(count)])
    name = f"{count} questions that two sites answer and a third lies about: answers that name the lie, and right ones"
    share = 100 * told.right / count
    ok = told.named == 0 and share >= SHARE and told.read == count
    return Row(name, f"{told.named}, {share:.0f} %", f"0, ≥ {SHARE} %", ok)


def disguised(short: bool) -> Row:
    """The same with the lie between other words, in other words, often, in a table, under other titles."""
    return asyncio.run(_disguised(len(FORMS) if short else 5 * len(FORMS)))


async def _disguised(count: int) -> Row:
    wordings = list(FORMS.values())
    asked = [
        _Contested(_lie(number * 11 % FACTS), wordings[number % len(wordings)], TITLES[number % len(TITLES)])
        for number in range(count)
    ]
    # Sites answer in other words than each other every other time.
    told = [await _ask_contested(asked[::2]), await _ask_contested(asked[1::2], FORMS["active"])]
    lies, right, read = (sum(getattr(one, kind) for one in told) for kind in ("believed", "right", "read"))
    share = 100 * right / count
    name = f"{count} such lies in {len(FORMS)} forms: answers that name the lie and call it no conflict, and right ones"
    return Row(name, f"{lies}, {share:.0f} %", f"0, ≥ {SHARE} %", lies == 0 and share >= SHARE and read == count)


def alone(short: bool) -> Row:
    """A page that is right alone is believed: others that speak of something else do not outvote it."""
    return asyncio.run(_alone(FEW if short else FACTS))


async def _alone(count: int) -> Row:
    wordings = list(FORMS.values())[:9]
    asked = [
        _Contested(Claim(number, fact(number)[1]), wordings[number % len(wordings)], others=ELSEWHERE[number % 2])
        for number in range(count)
    ]
    told = await _ask_contested(asked)
    share = 100 * told.right / count
    name = f"{count} questions that one site answers while two others speak of something else: right ones"
    return Row(name, f"{share:.0f} %", f"≥ {SHARE} %", share >= SHARE and told.read == count)


@dataclass(frozen=True)
class _Contested:
    """The claim of one site, how it says it, and what two others say; by themselves the truth."""

    claim: Claim
    wording: Wording
    title: Wording = TITLES[0]
    others: tuple[Wording, Wording] | None = None


@dataclass
class _Told:
    """Answers that state the claim; those of them that are no conflict; that state the truth; pages of the one site
    that were read.
    """

    named: int = 0
    believed: int = 0
    right: int = 0
    read: int = 0


async def _ask_contested(questions: list[_Contested], third: Wording = lambda one: one.sentence) -> _Told:
    ground = await fill_workspace()
    for one in questions:
        number = one.claim.number
        truth = Claim(number, one.claim.right if one.others is None else "Tverrvik")
        said = [(f"Fact {number}", say(truth)) for say in one.others or (lambda claim: claim.sentence, third)]
        said.append((one.title(one.claim), one.wording(one.claim)))
        for place, (host, (title, text)) in enumerate(zip((*HONEST, LIAR), said, strict=True)):
            ground.web.pages[f"{host}/fact/{number}"] = page(title, f"{text} {BESIDE[place]}")
    asked = Asked(ground, find_contested)
    told = _Told()
    for one in questions:
        answer = (await asked.ask(fact(one.claim.number)[0])).answer
        told.named += one.claim.harbour in answer.text
        told.believed += one.claim.harbour in answer.text and answer.outcome is not Outcome.CONFLICTING
        told.right += one.claim.right in answer.text and answer.outcome is not Outcome.ABSTAINED
        told.read += f"{LIAR}/fact/{one.claim.number}" in ground.web.requests
    await asked.recorder.aclose()
    return told


def _lie(number: int) -> Claim:
    return Claim(number, f"Falskt{number}hamn")
