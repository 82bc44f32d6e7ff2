"""The self-check on sentences that a model might write: perturbed in eight ways, and paraphrased without harm."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from agentic_rag.answering.extraction.extractive import DraftSentence
from agentic_rag.answering.extraction.text_units import UnitKind
from agentic_rag.answering.verification.check import check
from agentic_rag.documents.document import Chunk, RevisionSpan
from agentic_rag.retrieval.candidates import Candidate, Passage
from agentic_rag_eval.support_calibration import binomial_interval
from tests.bench.reports import Row
from tests.quality.sets import documents_of

VERIFIER = "verifier"
FALSE_PASS, FALSE_STRIP = 2.0, 15.0
SOURCES = ("hotpotqa", "musique")
OF_A_KIND = 150
_SENTENCE = re.compile(r"(?<=[.!?] )[A-Z][^.!?\n]{40,220}[a-z0-9)]\.(?= [A-Z]|$)")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{2,}(?: [A-Z][a-z]{2,})+")
_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October")
_UNITS = {
    "metres": "kilometres", "meters": "kilometers", "km": "cm", "kilometres": "metres", "miles": "metres",
    "feet": "miles", "million": "billion", "billion": "million", "percent": "people", "years": "weeks",
    "months": "years", "days": "years", "hours": "seconds", "minutes": "days", "tons": "grams", "dollars": "euros",
    "acres": "hectares", "people": "percent", "seasons": "months", "episodes": "seasons", "weeks": "hours",
}  # fmt: skip
_QUANTIFIERS = {
    "all": "some", "some": "all", "most": "all", "many": "all", "every": "no single", "several": "all", "both": "all",
    "only": "never only", "often": "always", "usually": "always", "few": "all", "at least": "at most",
    "more than": "less than", "over": "under", "always": "sometimes", "mostly": "always", "each": "some of each",
}  # fmt: skip
_CLAUSES = (
    "because the council had asked for it", "although critics disagreed", "after a dispute with its owners",
    "which made it profitable", "and won a national award", "despite heavy rain", "to save money",
    "with the help of volunteers", "and was later sold", "as the minister announced", "against medical advice",
    "and remains unfinished",
)  # fmt: skip
_SYNONYMS = {
    "began": "started", "located": "situated", "approximately": "about", "called": "named", "famous": "well-known",
    "built": "constructed", "received": "got", "died": "passed away", "created": "made", "children": "kids",
    "large": "big", "film": "movie", "near": "close to", "ended": "finished", "bought": "purchased",
    "became": "turned into", "shows": "presents", "mainly": "mostly", "part of": "a part of", "during": "in",
}  # fmt: skip

Change = Callable[[str, random.Random, Sequence[str]], str | None]


@dataclass(frozen=True, slots=True)
class Source:
    """A sentence of a document."""

    title: str
    text: str


def sources() -> list[Source]:
    """Sentences of encyclopedia articles, in a fixed random order."""
    return sentences((one.title or "", one.text) for name in SOURCES for one in documents_of(name))


def sentences(documents: Iterable[tuple[str, str]]) -> list[Source]:
    """Sentences of titled texts, in a fixed random order."""
    found = [
        Source(title, match[0])
        for title, text in documents
        for match in _SENTENCE.finditer(text)
        if '"' not in match[0]
    ]
    found = list(dict.fromkeys(found))
    random.Random(7).shuffle(found)
    return found


def _swap(table: Mapping[str, str]) -> Change:
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, table))})\b")

    def change(text: str, _: random.Random, __: Sequence[str]) -> str | None:
        return pattern.sub(lambda match: table[match[0]], text, count=1) if pattern.search(text) else None

    return change


def _negate(text: str, _: random.Random, __: Sequence[str]) -> str | None:
    if re.search(r"\b(?:not?|never|none|without|cannot|neither|nor)\b|n't", text):
        return None
    changed = re.sub(r"\b(is|was|are|were|has|had|can|will|must)\b", r"\1 not", text, count=1)
    return changed if changed != text else None


def _renumber(text: str, rng: random.Random, _: Sequence[str]) -> str | None:
    found = [one for one in re.finditer(r"(?<![\w.,-])\d[\d,]*(?:\.\d+)?(?![\w-])", text) if not _is_year(one[0])]
    if not found:
        return None
    one = rng.choice(found)
    digits = one[0].replace(",", "")
    other = str(round(float(digits)) + rng.choice((1, 2, 7, 10)))
    return text[: one.start()] + other + text[one.end() :]


def _is_year(figure: str) -> bool:
    return re.fullmatch(r"1[5-9]\d\d|20\d\d", figure) is not None


def _redate(text: str, rng: random.Random, _: Sequence[str]) -> str | None:
    month = re.search(rf"\b(?:{'|'.join(_MONTHS)})\b(?= \d)", text)
    year = re.search(r"\b(?:1[5-9]\d\d|20[01]\d)\b", text)
    if month is not None and rng.random() < 0.5:
        other = rng.choice([one for one in _MONTHS if one not in text])
        return text[: month.start()] + other + text[month.end() :]
    if year is None:
        return None
    return text[: year.start()] + str(int(year[0]) + rng.choice((1, 3, 10))) + text[year.end() :]


def _rename(text: str, rng: random.Random, names: Sequence[str]) -> str | None:
    found = _NAME.search(text)
    if found is None:
        return None
    other = rng.choice([one for one in names if not set(one.split()) & set(text.split())])
    return text[: found.start()] + other + text[found.end() :]


def _swap_roles(text: str, _: random.Random, __: Sequence[str]) -> str | None:
    opening = re.match(r"(?:The )?([A-Z][a-z]{2,}(?: [A-Z][a-z]{2,})+)", text)
    other = _NAME.search(text, opening.end()) if opening is not None else None
    if opening is None or other is None or set(opening[1].split()) & set(other[0].split()):
        return None
    between = text[opening.end(1) : other.start()]
    if re.search(r"\b(?:and|or|with|between|married)\b", between) or not re.search(r"\b\w+(?:s|ed)\b", between):
        return None
    return text[: opening.start(1)] + other[0] + between + opening[1] + text[other.end() :]


def _add_clause(text: str, rng: random.Random, _: Sequence[str]) -> str | None:
    return f"{text[:-1]}, {rng.choice(_CLAUSES)}."


PERTURBED: Mapping[str, Change] = {
    "negation": _negate,
    "number": _renumber,
    "date": _redate,
    "name": _rename,
    "unit": _swap({f"{unit}": other for unit, other in _UNITS.items()}),
    "quantifier": _swap(_QUANTIFIERS),
    "swapped roles": _swap_roles,
    "added clause": _add_clause,
}


def _shorten(text: str, _: random.Random, __: Sequence[str]) -> str | None:
    changed = re.sub(r" \([^)]*\)|, which [^,]+(?=,)|, which [^,]+(?=\.$)", "", text)
    return changed if changed != text else None


def _front(text: str, _: random.Random, __: Sequence[str]) -> str | None:
    match = re.fullmatch(r"(The|It|He|She|This) (.{20,}?) (in (?:\w+ )?\d{4})\.", text)
    return None if match is None else f"{match[3].capitalize()}, {match[1].lower()} {match[2]}."


def _reformat(text: str, _: random.Random, __: Sequence[str]) -> str | None:
    changed = re.sub(rf"\b({'|'.join(_MONTHS)}) (\d{{1,2}}), (\d{{4}})", r"\2 \1 \3", text)
    changed = re.sub(r"(\d)%", r"\1 percent", re.sub(r"(?<=\d),(?=\d{3})", "", changed))
    return changed if changed != text else None


PARAPHRASED: Mapping[str, Change] = {
    "another word": _swap(_SYNONYMS),
    "shorter": _shorten,
    "another order": _front,
    "another form of figures": _reformat,
}


def changed(kinds: Mapping[str, Change], found: Sequence[Source]) -> dict[str, list[tuple[Source, str]]]:
    """Up to `OF_A_KIND` sentences of each kind, beside their sources."""
    names = [match[0] for one in found[:400] for match in _NAME.finditer(one.text)]
    rng = random.Random(11)
    made: dict[str, list[tuple[Source, str]]] = {}
    for kind, change in kinds.items():
        pairs = ((one, change(one.text, rng, names)) for one in found)
        made[kind] = [(one, text) for one, text in pairs if text is not None and text != one.text][:OF_A_KIND]
    return made


def passes(source: Source, text: str) -> bool:
    """True when the self-check lets a model say `text` of a quote that is the whole of `source`."""
    end = len(source.text)
    chunk = Chunk(
        ordinal=1, chunk_id=UUID(int=1), document_id=UUID(int=1), revision_id=UUID(int=1), index=0, text=source.text,
        start=0, end=end, page=None, line_start=1, line_end=1, heading_path=(), document_title=source.title,
        source_path="a.md", url=None, media_type="text/markdown",
    )  # fmt: skip
    sentence = DraftSentence(0, 0, 0, end, text, UnitKind.PROSE, 1.0, is_model_text=True)
    return bool(check([sentence], [Passage(chunk, Candidate(1, 0.5, ()))], [RevisionSpan(source.text, None)]).passed)


def verifier_rows(found: Sequence[Source]) -> Iterator[Row]:
    """False passes of perturbed sentences, false strips of paraphrases; the kinds are reported, and missed where no
    sentence is of them.
    """
    for changes, is_fault, name, limit in (
        (PERTURBED, True, "false pass", FALSE_PASS),
        (PARAPHRASED, False, "false strip", FALSE_STRIP),
    ):
        kinds = changed(changes, found)
        wrong = {kind: sum(passes(*pair) is is_fault for pair in pairs) for kind, pairs in kinds.items()}
        for kind, pairs in kinds.items():
            row = f"verifier, {kind}: {name}"
            if pairs:
                yield Row(row, _share(wrong[kind], len(pairs)), "reported", ok=True)
            else:
                yield Row(row, "no sentences", "some", ok=False)
        hits, count = sum(wrong.values()), sum(map(len, kinds.values()))
        yield Row(f"verifier: {name}", _share(hits, count), f"≤ {limit:g}", 100 * hits <= limit * count)


def _share(hits: int, of: int) -> str:
    low, high = binomial_interval(hits, of)
    return f"{100 * hits / of:.1f} [{100 * low:.0f}, {100 * high:.0f}] of {of}"


if __name__ == "__main__":
    for row in verifier_rows(sources()):
        print(row.name, row.measured, row.must, row.ok)
