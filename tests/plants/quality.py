"""The lies of `make quality`, by judge and figure: observations that hold every row, and those a lie makes of them.

The product behind these rows takes minutes; what it can say is small. So the judges are lied to, and where the judge is
the product itself, it lies.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any
from uuid import UUID

from agentic_rag.answering.answer import Outcome
from agentic_rag.answering.evidence.answerability import AnswerabilityFeatures
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_eval.metrics import Score, score
from agentic_rag_eval.records import AskRecord, CitedSpan, EvalDocument, EvalQuestion
from agentic_rag_eval.support_calibration import AskedSupport
from tests.bench.reports import Row
from tests.plants import Patch, nothing
from tests.quality import (
    abstention,
    citations,
    conflicts,
    english_rules,
    grounded,
    languages,
    natural,
    near_misses,
    readings,
    rows,
    verifier,
)

FOLDERS = Path(natural.__file__).parent / "natural" / "corpora"
_DIGIT = re.compile(r"\d")
_LINE_END = re.compile(r"(?<!\n)\n(?!\n)")
MANY = 200
GOOD, BAD = [1.0] * MANY, [0.0] * MANY
HALF = [float(place % 2) for place in range(MANY)]
BOTH = "Visa, 50 pounds.\nHotel, 90 pounds."


@dataclass(frozen=True, slots=True)
class Lie:
    """What makes a row miss: rows of true observations, rows of lying ones."""

    what: str
    figure: str
    true: Callable[[], Sequence[Row]]
    lying: Callable[[], Sequence[Row]]


def of_support(value: float, *, answerable: bool, abstained: bool = False) -> AskedSupport:
    """Of a question whose best passage scores as high, and of which nothing else is known."""
    signs = tuple(value if name == "best" else 0.0 for name in AnswerabilityFeatures.__dataclass_fields__)
    return AskedSupport(value, answerable, signs, abstained)


HIGH = [of_support(0.9, answerable=True)] * MANY
LOW = [of_support(0.1, answerable=False, abstained=True)] * MANY
UNHELD = [of_support(0.9, answerable=False, abstained=True)] * MANY
"""Not answerable, and supported all the same."""
ANSWERED = [replace(one, abstained=False) for one in LOW]
HARDER = [of_support(0.4, answerable=True)] * MANY
AROUND = [of_support(value, answerable=True) for value in (0.85, 0.95)] * (MANY // 2)
"""Half of them below `HIGH`, half above."""


@cache
def supported() -> Sequence[Row]:
    """Rows on abstention of sets that are told apart perfectly."""
    return supports()


@cache
def threshold_too_high() -> Sequence[Row]:
    """The same where half of people's questions lie below what was calibrated on made ones."""
    return supports(answered=AROUND)


def supports(**changes: Any) -> Sequence[Row]:
    """Rows on abstention of sets that are told apart perfectly, but for the changes to one of them."""
    held = abstention.Supports("pubmedqa", HIGH, LOW, LOW, [], HIGH)
    others = [replace(held, name=name) for name in (abstention.HALF_ANSWERABLE, "musique")]
    return abstention.abstention_rows([replace(held, **changes), *others])


def asked(outcome: str, answer: str, count: int = MANY) -> list[Score]:
    record = AskRecord(answer, outcome, (), ("a",), 1.0, 0.1, {})
    return [score(EvalQuestion("q", "Who?", ("Ada",), ("a",), "who"), record, 5)] * count


def concluded(snippet: str) -> Sequence[Row]:
    """The row on studies, where this is cited first."""
    record = AskRecord("It is.", "GROUNDED", (CitedSpan("a", snippet),), ("a",), 1.0, 0.1, {})
    told = score(EvalQuestion("q", "Is it?", ("yes",), ("a",), "study"), record, 5)
    return [grounded.conclusion_row([told] * MANY, [EvalDocument("a", "a", "We ask.\n\nIt is.")])]


def judged(outcome: str, verdict: natural.Verdict) -> Sequence[Row]:
    question = natural.NaturalQuestion("a-1", "Who?", "figure", "ANSWERED", (("Ada",),), (), ())
    return natural.natural_rows("dev", [natural.Judgement(question, outcome, verdict)] * MANY)


def in_french(verdict: natural.Verdict) -> Sequence[Row]:
    question = natural.NaturalQuestion("french-coffee-1", "Qui ?", "who", "ANSWERED", (("Ada",),), (), ())
    return natural.language_rows({"languages-dev": [natural.Judgement(question, "GROUNDED", verdict)] * MANY})


def near(miss: str = "ABSTAINED", twin: natural.Verdict = natural.Verdict.RIGHT) -> Sequence[Row]:
    """Rows on near misses of one outcome and twins of one verdict."""
    answered = natural.NaturalQuestion("a-2", "Who?", "who", "ANSWERED", (("Ada",),), (), ())
    missed = natural.judge_natural(replace(answered, question_id="a-1", outcome="NOT_STATED", must=()), miss, "Bob.")
    outcome = "ABSTAINED" if twin is natural.Verdict.ABSTAINED else "GROUNDED"
    return near_misses.near_miss_rows("near-dev", [missed, natural.Judgement(answered, outcome, twin)] * MANY)


def pairs(found: Outcome) -> Sequence[Row]:
    return list(
        conflicts.conflict_rows([conflicts.Pair(place, "", Outcome.CONFLICTING, found, "") for place in range(20)])
    )


def shown(outcome: str, text: str) -> Sequence[Row]:
    """Rows on a question that fits two things, and on one that names what it means."""
    several = readings.ReadingsQuestion("a-1", "Which limit?", (("Visa", ("50 pounds",)), ("Hotel", ("90 pounds",))))
    single = readings.ReadingsQuestion("a-2", "Which limit has a visa?", must="50 pounds")
    return readings.rows_of(
        [(several, readings.UNDERSPECIFIED if text == BOTH else outcome, text), (single, outcome, text)] * MANY
    )


def in_german(
    found: Sequence[float] = GOOD, by_words: Sequence[float] = GOOD, contained: Sequence[float] = GOOD
) -> Sequence[Row]:
    return languages.rows_of("de", found, by_words, GOOD, contained)


def with_english_rules(*, is_changed: bool) -> Sequence[Row]:
    """The row on a hundred German questions, of whose answers one may be another one without the rules of English."""
    asked = english_rules.Asked("German", "Wer?", WorkspaceRef(UUID(int=1), UUID(int=2)))
    same = english_rules.Compared(asked, is_changed=False)
    return english_rules.rows_of([replace(same, is_changed=is_changed), *[same] * 99])


def said(*, is_all_right: bool, is_misled: bool) -> Sequence[Row]:
    return list(conflicts.ramdocs_rows([conflicts.Reading(is_all_right, is_misled)] * MANY))


def cited(valid: float, covered: float) -> Sequence[Row]:
    return citations.citation_rows([citations.Judged((valid,), (covered,))] * MANY)


@cache
def own_sentences() -> list[verifier.Source]:
    """Sentences of the folders that lie beside the tests: of a few hundred, so that a clone has them too."""
    files = sorted(one for one in FOLDERS.rglob("*") if one.suffix in (".md", ".txt"))
    return verifier.sentences((one.stem, _LINE_END.sub(" ", one.read_text("utf-8"))) for one in files)


@cache
def verified_truly() -> Sequence[Row]:
    """The rows on the self-check as it is."""
    return list(verifier.verifier_rows(own_sentences()))


def verified(lie: Callable[[Patch], None]) -> Sequence[Row]:
    """The same while it lies."""
    undo: list[tuple[Any, str, Any]] = []

    def patch(owner: Any, name: str, value: Any) -> None:
        undo.append((owner, name, getattr(owner, name)))
        setattr(owner, name, value)

    try:
        lie(patch)
        return list(verifier.verifier_rows(own_sentences()))
    finally:
        for owner, name, value in undo:
            setattr(owner, name, value)


def _everything_passes(patch: Patch) -> None:
    from agentic_rag.answering.verification import check

    patch(check, "find_unsupported", nothing)


def _nothing_passes(patch: Patch) -> None:
    from agentic_rag.answering.verification import check

    patch(check, "_broken_guardrail", lambda *_: "low_overlap")


LIES: Mapping[str, tuple[Lie, ...]] = {
    "rows.at_least": (
        Lie("half is right", "row", lambda: [rows.at_least("row", GOOD, 90)], lambda: [rows.at_least("row", HALF, 90)]),
        Lie("nothing is asked", "row", lambda: [rows.at_least("row", GOOD, 0)], lambda: [rows.at_least("row", [], 0)]),
    ),
    "rows.at_most": (
        Lie("half is wrong", "row", lambda: [rows.at_most("row", BAD, 10)], lambda: [rows.at_most("row", HALF, 10)]),
    ),
    "rows.not_below": (
        Lie("half is lost", "row", lambda: [rows.not_below("row", GOOD, GOOD)],
            lambda: [rows.not_below("row", HALF, GOOD)]),
    ),
    "rows.above": (
        Lie("nothing is gained", "row", lambda: [rows.above("row", GOOD, HALF)],
            lambda: [rows.above("row", GOOD, GOOD)]),
    ),
    "grounded.grounded_rows": (
        Lie("another answer is called grounded", "GROUNDED without the gold answer",
            lambda: grounded.grounded_rows("musique", asked("GROUNDED", "Ada.")),
            lambda: grounded.grounded_rows("musique", asked("GROUNDED", "Bob."))),
        Lie("all is abstained on", "abstained though answerable",
            lambda: grounded.grounded_rows("musique", asked("GROUNDED", "Ada.")),
            lambda: grounded.grounded_rows("musique", asked("ABSTAINED", ""))),
    ),
    "grounded.conclusion_row": (
        Lie("the aim is cited", "last paragraph cited", lambda: concluded("It is."), lambda: concluded("We ask.")),
    ),
    "abstention._removed": (
        Lie("what is gone is supported as what is there", "abstained without their documents", supported,
            lambda: supports(removed=UNHELD)),
    ),
    "abstention.abstention_rows": (
        Lie("what nobody answers is supported", "own unanswerable questions", supported,
            lambda: supports(unanswerable=UNHELD)),
    ),
    "abstention._by_default": (
        Lie("nothing is abstained on", "without its documents, nothing set", supported,
            lambda: supports(removed=ANSWERED)),
        Lie("nothing is abstained on", "unanswerable questions, nothing set", supported,
            lambda: supports(unanswerable=ANSWERED)),
    ),
    "abstention._alike": (
        Lie("made questions are much harder than people's", "supports of made questions", supported,
            lambda: supports(own=HARDER)),
    ),
    "abstention._calibrated": (
        Lie("the threshold lies above half", "calibrated on its corpus", supported, threshold_too_high),
        Lie("the threshold lies above half", "all sets", supported, threshold_too_high),
    ),
    "natural.natural_rows": (
        Lie("answers are partly right", "right and complete", lambda: judged("GROUNDED", natural.Verdict.RIGHT),
            lambda: judged("GROUNDED", natural.Verdict.PARTLY)),
        Lie("answers are wrong", "wrong but GROUNDED", lambda: judged("GROUNDED", natural.Verdict.RIGHT),
            lambda: judged("GROUNDED", natural.Verdict.WRONG)),
    ),
    "natural.language_rows": (
        Lie("answers are partly right", "right and complete", lambda: in_french(natural.Verdict.RIGHT),
            lambda: in_french(natural.Verdict.PARTLY)),
    ),
    "english_rules.rows_of": (
        Lie("a rule of English decides for one answer of a hundred", "by rules of English alone",
            lambda: with_english_rules(is_changed=False), lambda: with_english_rules(is_changed=True)),
    ),
    "languages.rows_of": (
        Lie("another document is first", "xquad-de: R@1", in_german, lambda: in_german(found=HALF)),
        Lie("plain BM25 finds more", "against plain BM25", in_german, lambda: in_german(by_words=HALF)),
        Lie("answers lack it", "gold answer in the answer", in_german, lambda: in_german(contained=HALF)),
    ),
    "near_misses.near_miss_rows": (
        Lie("near misses are answered", "near misses, dev: answered GROUNDED", near, lambda: near("GROUNDED")),
        Lie("twins are partly right", "right and complete", near, lambda: near(twin=natural.Verdict.PARTLY)),
        Lie("twins are abstained on", "false abstention", near, lambda: near(twin=natural.Verdict.ABSTAINED)),
    ),
    "readings.rows_of": (
        Lie("one reading is given", "each reading shown", lambda: shown("GROUNDED", BOTH),
            lambda: shown("GROUNDED", "Visa, 50 pounds.")),
        Lie("every question fits several things", "called UNDERSPECIFIED", lambda: shown("GROUNDED", BOTH),
            lambda: shown(readings.UNDERSPECIFIED, BOTH)),
    ),
    "conflicts.conflict_rows": (
        Lie("one of two answers is given", "right outcome", lambda: pairs(Outcome.CONFLICTING),
            lambda: pairs(Outcome.GROUNDED)),
    ),
    "conflicts.ramdocs_rows": (
        Lie("answers lack a right one", "all right answers", lambda: said(is_all_right=True, is_misled=False),
            lambda: said(is_all_right=False, is_misled=False)),
        Lie("misinformation is repeated", "misinformation", lambda: said(is_all_right=True, is_misled=False),
            lambda: said(is_all_right=False, is_misled=True)),
    ),
    "citations.citation_rows": (
        Lie("quotes are invented", "citation validity", lambda: cited(1.0, 1.0), lambda: cited(0.0, 1.0)),
        Lie("sentences have no marker", "citation coverage", lambda: cited(1.0, 1.0), lambda: cited(1.0, 0.0)),
    ),
    "verifier.verifier_rows": (
        Lie("claims are not compared with their quotes", "verifier: false pass", verified_truly,
            lambda: verified(_everything_passes)),
        Lie("every sentence is refused", "verifier: false strip", verified_truly,
            lambda: verified(_nothing_passes)),
        Lie("no sentence has a figure", "verifier, number: false pass", verified_truly,
            lambda: list(verifier.verifier_rows([one for one in own_sentences() if not _DIGIT.search(one.text)]))),
    ),
}  # fmt: skip
"""By the function that judges. `__main__.measured` and the rules judge by `rows` alone."""
