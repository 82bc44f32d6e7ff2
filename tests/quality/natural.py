"""Natural questions: 300 that an employee would ask, over ten corpora of different kinds, 116 of weak kinds over
five more, 60 in each of four languages, and 200 near misses and twins over four folders, judged by what must stand in
the answer. The judge is pure and reads neither citations nor scores: only the outcome and the text a user sees.
"""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from tests.bench.reports import Row
from tests.quality.rows import at_least, at_most, share

FOLDER = Path(__file__).parent / "natural"
CORPORA = FOLDER / "corpora"
NATURAL, NATURAL_DEV, NATURAL_OWN = "natural", "natural-dev", "natural-own"
FOUR_LANGUAGES, FOUR_LANGUAGES_DEV = "languages4", "languages4-dev"
NEAR_MISSES, NEAR_MISSES_DEV = "near-misses", "near-misses-dev"
HALVES = {
    NATURAL: ("dev", "held"),
    NATURAL_DEV: ("dev",),
    NATURAL_OWN: ("own",),
    FOUR_LANGUAGES: ("languages-dev", "languages-held"),
    FOUR_LANGUAGES_DEV: ("languages-dev",),
    NEAR_MISSES: ("near-dev", "near-held"),
    NEAR_MISSES_DEV: ("near-dev",),
}
TOTALS_ONLY = {"near-held"}
"""Halves whose answers are written nowhere, so that no rule is made from them."""
RIGHT_SHARE = 60
RIGHT_IN_A_LANGUAGE = 55
WRONG_SHARE = 8
"""Percent of all questions of a half."""
PARTLY_SHARE = 3
"""One of so many groups of `must` is enough for *partly*: fewer may stand in an answer by accident."""

_NUMBERS = """
1 one eins; 2 two zwei dos; 3 three drei tres; 4 four vier cuatro; 5 five fünf cinco; 6 six sechs seis;
7 seven sieben siete; 8 eight acht ocho; 9 nine neun nueve; 10 ten zehn diez; 11 eleven elf; 12 twelve zwölf doce;
13 thirteen dreizehn trece; 14 fourteen vierzehn catorce; 15 fifteen fünfzehn quince; 16 sixteen sechzehn dieciséis;
17 seventeen siebzehn diecisiete; 18 eighteen achtzehn dieciocho; 19 nineteen neunzehn diecinueve;
20 twenty zwanzig veinte; 24 vierundzwanzig veinticuatro; 30 thirty dreißig treinta; 40 forty vierzig cuarenta;
48 achtundvierzig; 50 fifty fünfzig cincuenta; 60 sixty sechzig sesenta; 90 ninety neunzig noventa
"""
_SPELLED = {word: entry.split()[0] for entry in _NUMBERS.split(";") for word in entry.split()[1:]}
_UNITS = {"pound": "£", "pounds": "£", "euro": "€", "euros": "€", "percent": "%", "prozent": "%"}
_UNSPACED = r"\u3040-\u30ff\u3400-\u9fff"
"""Kana and ideographs: no space shows where a word ends, so each character is a token."""
_TOKEN = re.compile(rf"\d+(?:\.\d+)*|[{_UNSPACED}]|[^\W\d_{_UNSPACED}]+|[£€$%°]")
_MARKER = re.compile(r"\s?\[\d+\]")
_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"”'’)\]]*\s+(?=[^\W_a-zäöüßáéíóúñ]|[¿¡\"“„(])|[。！？](?=\s*\w)")
_ABBREVIATED = re.compile(r"(?:\b(?:No|Nr|Dr|Mr|Ms|Mrs|St|Abs|Art|Sr|Sra|Dra|Mme|Tel|Ltd|\w)|(?:^|\s)\d{1,2})\.$")


class Verdict(StrEnum):
    """What an answer is worth to the person who asked."""

    RIGHT = "right"
    PARTLY = "partly"
    BURIED = "buried"
    """All of it is there, among more sentences than anybody reads."""
    WRONG = "wrong"
    ABSTAINED = "abstained"
    """Without an answer, though the documents have one."""


@dataclass(frozen=True, slots=True)
class NaturalQuestion:
    """A question and what its answer must hold: of each group of `must` one string."""

    question_id: str
    question: str
    kind: str
    outcome: str
    """ANSWERED, NOT_STATED or CONFLICTING."""
    must: tuple[tuple[str, ...], ...]
    must_not: tuple[str, ...]
    """A string after `^` makes an answer wrong that begins with it."""
    sources: tuple[str, ...]
    """Files below `corpora`."""
    max_sentences: int | None = None
    or_conflicting: bool = False
    """An amendment or a later decision says otherwise than an earlier text: showing both is right too."""

    @property
    def corpus(self) -> str:
        """The folder whose documents it is asked of."""
        return self.question_id.rsplit("-", 1)[0]


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict beside the outcome that the product gave."""

    question: NaturalQuestion
    outcome: str
    verdict: Verdict

    @property
    def is_wrong_but_grounded(self) -> bool:
        """The harm: a wrong answer that calls itself grounded."""
        return self.verdict is Verdict.WRONG and self.outcome == "GROUNDED"

    @property
    def is_wrong_but_uncertain(self) -> bool:
        """A wrong answer that says of itself that it may not be one."""
        return self.verdict is Verdict.WRONG and self.outcome == "UNCERTAIN"


def natural_questions(half: str) -> list[NaturalQuestion]:
    """All questions of a half: `dev`, `held` or `own`."""
    lines = [line for path in sorted(FOLDER.glob(f"{half}-*.jsonl")) for line in path.read_text("utf-8").splitlines()]
    return [
        NaturalQuestion(
            question_id=one["id"],
            question=one["question"],
            kind=one["kind"],
            outcome=one["outcome"],
            must=tuple(map(tuple, one["must"])),
            must_not=tuple(one["must_not"]),
            sources=tuple(one["source"]),
            max_sentences=one.get("max_sentences"),
            or_conflicting=one.get("or_conflicting", False),
        )
        for one in map(json.loads, lines)
    ]


def plain_text(path: Path) -> str:
    """The words of a document of the corpora."""
    text = path.read_text("utf-8")
    return html.unescape(re.sub(r"<[^>]+>", " ", text)) if path.suffix == ".html" else text


def tokens_of(text: str) -> list[str]:
    """Words and numbers without case, spaces and spelling: "1,200 pounds", "£1200" and "1.200 Pounds" are the same."""
    text = unicodedata.normalize("NFKC", text).casefold()
    text = re.sub(r"(?<=\d)[.,'](?=\d{3}(?!\d))", "", text)
    text = re.sub(r"(?<=\d),(?=\d)", ".", text)
    text = re.sub(r"\bpor ciento\b|\bper cent\b", "%", text)
    text = re.sub(r"([£€$])\s?(\d+(?:\.\d+)*)", r"\2 \1", text)
    return [_UNITS.get(token, _SPELLED.get(token, token)) for token in _TOKEN.findall(text)]


def holds(text: Sequence[str], wanted: str) -> bool:
    """The tokens of `wanted` stand side by side in the text."""
    sought = tokens_of(wanted)
    return any(list(text[at : at + len(sought)]) == sought for at in range(len(text) - len(sought) + 1))


def count_sentences(answer: str) -> int:
    """Sentences a user reads; a line, as of a list or a table, is one at least."""
    lines = [line.strip() for line in _MARKER.sub("", answer).splitlines() if re.search(r"\w", line)]
    return sum(1 + sum(not _ABBREVIATED.search(line[: end.start()]) for end in _ends(line)) for line in lines)


def _ends(line: str) -> list[re.Match[str]]:
    return list(_SENTENCE_END.finditer(line))


def judge_natural(question: NaturalQuestion, outcome: str, answer: str) -> Judgement:
    """Judge what the user got."""
    return Judgement(question, outcome, _verdict(question, outcome, _MARKER.sub("", answer)))


def _verdict(question: NaturalQuestion, outcome: str, answer: str) -> Verdict:
    if question.outcome == "NOT_STATED":
        return Verdict.RIGHT if outcome == "ABSTAINED" else Verdict.WRONG
    if outcome == "ABSTAINED":
        return Verdict.ABSTAINED
    text = tokens_of(answer)
    found = sum(any(holds(text, one) for one in group) for group in question.must)
    whole = found == len(question.must)
    if question.outcome == "CONFLICTING":
        if outcome == "CONFLICTING":
            return Verdict.RIGHT if whole else Verdict.PARTLY if found else Verdict.WRONG
        return Verdict.PARTLY if whole else Verdict.WRONG
    if found * PARTLY_SHARE < len(question.must) or any(_is_said(text, one) for one in question.must_not):
        return Verdict.WRONG
    if not whole or (outcome == "CONFLICTING" and not question.or_conflicting):
        return Verdict.PARTLY
    limit = question.max_sentences
    return Verdict.RIGHT if limit is None or count_sentences(answer) <= limit else Verdict.BURIED


def _is_said(text: Sequence[str], forbidden: str) -> bool:
    return holds(text[: len(tokens_of(forbidden))] if forbidden.startswith("^") else text, forbidden)


def natural_rows(half: str, judged: Sequence[Judgement]) -> list[Row]:
    """The rows of a half, and what each kind of question gave."""
    of = f"natural questions, {half}"
    answerable = [one for one in judged if one.question.outcome != "NOT_STATED"]
    answers = [one for one in judged if one.verdict is Verdict.RIGHT and one.outcome != "ABSTAINED"]
    called = [float(one.outcome == "GROUNDED") for one in answers]
    rows = [
        at_least(f"{of}: right and complete", _are(judged, Verdict.RIGHT), RIGHT_SHARE),
        share(f"{of}: partly or buried", _are(judged, Verdict.PARTLY, Verdict.BURIED)),
        at_most(f"{of}: wrong but GROUNDED", [float(one.is_wrong_but_grounded) for one in judged], WRONG_SHARE),
        share(f"{of}: wrong as UNCERTAIN", [float(one.is_wrong_but_uncertain) for one in judged]),
        share(f"{of}: false abstention, of those with an answer", _are(answerable, Verdict.ABSTAINED)),
        *([share(f"{of}: GROUNDED, of those right and complete", called)] if called else ()),
    ]
    for kind in dict.fromkeys(_kind(one.question) for one in judged):
        ones = [one for one in judged if _kind(one.question) == kind]
        rows.append(share(f"{of}: {kind}: right and complete", _are(ones, Verdict.RIGHT)))
        wrong = [float(one.is_wrong_but_grounded) for one in ones]
        rows.append(share(f"{of}: {kind}: wrong but GROUNDED", wrong))
    return rows


def _are(judged: Sequence[Judgement], *verdicts: Verdict) -> list[float]:
    return [float(one.verdict in verdicts) for one in judged]


def _kind(question: NaturalQuestion) -> str:
    return question.kind if question.outcome == "ANSWERED" else question.outcome


def language_rows(judged: Mapping[str, Sequence[Judgement]]) -> list[Row]:
    """The rows of each language, over all of its questions and by half."""
    rows: list[Row] = []
    every = [one for ones in judged.values() for one in ones]
    for corpus in dict.fromkeys(one.question.corpus for one in every):
        of = f"questions in {corpus.partition('-')[0].capitalize()}"
        together = [one for one in every if one.question.corpus == corpus]
        rows.append(at_least(f"{of}: right and complete", _are(together, Verdict.RIGHT), RIGHT_IN_A_LANGUAGE))
        rows += _harm_rows(of, together)
        for half, ones in judged.items():
            of_half = f"{of}, {half.removeprefix('languages-')}"
            of_corpus = [one for one in ones if one.question.corpus == corpus]
            rows.append(share(f"{of_half}: right and complete", _are(of_corpus, Verdict.RIGHT)))
            rows += _harm_rows(of_half, of_corpus)
    return rows


def _harm_rows(of: str, judged: Sequence[Judgement]) -> list[Row]:
    answerable = [one for one in judged if one.question.outcome != "NOT_STATED"]
    return [
        share(f"{of}: partly or buried", _are(judged, Verdict.PARTLY, Verdict.BURIED)),
        share(f"{of}: wrong but GROUNDED", [float(one.is_wrong_but_grounded) for one in judged]),
        share(f"{of}: wrong as UNCERTAIN", [float(one.is_wrong_but_uncertain) for one in judged]),
        share(f"{of}: false abstention, of those with an answer", _are(answerable, Verdict.ABSTAINED)),
    ]
