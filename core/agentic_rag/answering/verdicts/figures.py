"""Questions that compare two figures in the same unit: the taller of two, the one with more, or growth over years."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from agentic_rag.answering.extraction.negation import has_negation
from agentic_rag.answering.verdicts.statements import (
    WHO,
    DecidableQuestion,
    QuotedSentence,
    SideFact,
    clean_names,
    find_subject,
    open_verdict,
    parse_choice_question,
    words_of,
)

_DIMENSIONS = (
    (frozenset(["taller", "tallest", "shorter", "shortest"]), "tall|high", "height"),
    (frozenset(["higher", "highest", "lower", "lowest"]), "high|tall", "height|elevation"),
    (frozenset(["longer", "longest", "shorter", "shortest"]), "long|in length", "length"),
    (frozenset(["deeper", "deepest"]), "deep", "depth"),
    (frozenset(["wider", "widest"]), "wide", "width"),
)
"""Words that ask for a dimension; words that state it after a figure; words that state it before one."""
_DOWN = frozenset(["shorter", "lower", "smaller", "less", "fewer", "least", "fewest", "lowest", "smallest"])
_SHORT = frozenset(["shorter", "shortest", "lower", "lowest"])
_BY = r"(?:more|fewer|less|larger|higher|greater|lower|smaller|bigger|most|fewest|largest|highest|lowest|smallest)"
_ASK_DIMENSION = re.compile(
    rf"{WHO} (?:is|was|are) (?:the )?(?P<how>[a-z]+er|[a-z]+est)(?: (?:one|of the two))?$", re.I
)
_ASK_COUNT = re.compile(
    rf"{WHO} (?:has|have|had) (?:a |the )?(?P<how>{_BY}) (?:number of )?(?P<what>[a-z]+(?: [a-z]+)?)$", re.I
)
_IS_DIMENSION = re.compile(r"^(?:is|was|are) (?P<a>.+?) (?P<how>[a-z]+er) than (?P<b>[^,?]+?)\s*\?*$", re.I)
_DOES_COUNT = re.compile(
    rf"^(?:does|do|did) (?P<a>.+?) have (?:a )?(?P<how>{_BY}) (?P<what>[a-z]+(?: [a-z]+)?) than (?P<b>[^,?]+?)\s*\?*$",
    re.I,
)
_RISE = frozenset(["grow", "increase", "rise", "improve"])
_CHANGE = re.compile(
    r"^(?:did|has|have) (?:the )?(?P<what>.+?) (?P<how>grow|increase|rise|improve|grown|increased|risen|fall|decrease|"
    r"decline|drop|shrink|fallen|decreased|declined|dropped|shrunk) (?:from|between) (?P<first>(?:19|20)\d\d) "
    r"(?:to|and) (?P<last>(?:19|20)\d\d)\s*\?*$",
    re.I,
)
_HIGHER_IN = re.compile(
    r"^(?:was|were) (?:the )?(?P<what>.+?) (?P<how>higher|lower|larger|smaller|greater|less|more) "
    r"in (?P<last>(?:19|20)\d\d) than in (?P<first>(?:19|20)\d\d)\s*\?*$",
    re.I,
)

_NUMBERS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17,
    "eighteen": 18, "nineteen": 19, "twenty": 20,
}  # fmt: skip
_SCALES = {"thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000, "trillion": 1_000_000_000_000}
_FIGURE_TEXT = (
    rf"(?P<sign>[$€£¥])?(?<![\w.,-])(?P<number>\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?|(?:{'|'.join(_NUMBERS)})\b)"
    rf"(?:[ -](?P<scale>{'|'.join(_SCALES)})\b)?"
)
_FIGURE_ALONE = re.compile(rf"[$€£¥]?\d[\d,.]*(?: ?%)?(?: (?:{'|'.join(_SCALES)})\b)?")
_LINKING = frozenset([
    "was", "were", "totaled", "totalled", "reached", "of", "with", "and", "from",
    "to", "in", "for", "during", "fiscal", "the", "year", "up", "down",
    "compared", "rose", "grew", "fell", "increased", "decreased", "declined",
])  # fmt: skip
"""Words allowed between a measure and its figure. With any other word the figure may belong to something else."""
_UNITS = {
    **dict.fromkeys(["ft", "foot", "feet"], "ft"),
    **dict.fromkeys(["m", "metre", "metres", "meter", "meters"], "m"),
    **dict.fromkeys(["km", "kilometre", "kilometres", "kilometer", "kilometers"], "km"),
    **dict.fromkeys(["mi", "mile", "miles"], "mi"),
    **dict.fromkeys(["cm", "centimetre", "centimetres", "centimeter", "centimeters"], "cm"),
    **dict.fromkeys(["mm", "millimetre", "millimetres", "millimeter", "millimeters"], "mm"),
}
_UNIT = "|".join(sorted(_UNITS, key=len, reverse=True))
_NO_UNIT = r"(?:and|or|in|on|at|for|by|to|from|with|as|per|of|is|was|while|when)\b"
_VAGUE = re.compile(
    r"\b(?:about|around|approximately|roughly|nearly|almost|over|under|above|below|than|least|most|up to|some|circa|"
    r"c|ca|estimated|between|or|to|by|additional|another|other|further|and)\.? (?:a )?(?:[$€£¥])?$|[~≈–-] ?$",
    re.IGNORECASE,
)
_STRAYS = re.compile(r"\b(?:whose|which|that|who|while|but|than|where|when|if|would|will|may|planned)\b|;")


@dataclass(frozen=True, slots=True)
class FigureComparison:
    """Which side has the larger or smaller figure; or has the first side it?"""

    sides: ClassVar[int] = 2
    names: tuple[str, str]
    pattern: re.Pattern[str]
    """The figure, with its unit where it has one."""
    unit: str
    """The noun that is counted; empty when the sentence states the unit."""
    label: str
    """The word for the side asked for ("Taller"); empty for a yes/no question about the first side."""
    larger: bool

    def read_side(self, side: int, source: QuotedSentence) -> SideFact | None:
        """The side's figure, if the sentence opens with its name and states exactly one."""
        subject = find_subject(source, self.names[side])
        if subject is None or has_negation(subject.rest):
            return None
        found = [self._figure(match) for match in self.pattern.finditer(subject.rest)]
        if len(found) != 1 or found[0] is None or _STRAYS.search(subject.rest[: found[0][1]]):
            return None
        return found[0][0]

    def verdict(self, stated: Sequence[SideFact]) -> str | None:
        """The side asked for with both figures; None when they are equal or in different units."""
        begun = open_verdict(self.label, stated, wants_lower=not self.larger)
        if begun is None:
            return None
        label, told = begun
        other = 1 - told
        return f"{label}: {self.names[told]} ({stated[told].text}), against {self.names[other]} ({stated[other].text})."

    def _figure(self, match: re.Match[str]) -> tuple[SideFact, int] | None:
        if _VAGUE.search(match.string[: match.start("number")]):
            return None
        unit = match["unit"] or self.unit
        value = value_of(match)
        said = (match["sign"] or "") + " ".join(part for part in (match["number"], match["scale"], unit) if part)
        unit = (match["sign"] or "") + _UNITS.get(unit.lower(), unit.lower())
        return SideFact(said, unit, value, value), match.start()


@dataclass(frozen=True, slots=True)
class FigureChange:
    """Did a figure rise or fall from one year to another? The sides are the years."""

    sides: ClassVar[int] = 2
    measure: str
    years: tuple[str, str]
    rises: bool

    def read_side(self, side: int, source: QuotedSentence) -> SideFact | None:
        """The year's figure, if the sentence opens with the measure and states exactly one for that year."""
        subject = find_subject(source, self.measure)
        if subject is None or has_negation(subject.rest):
            return None
        form = re.compile(
            rf"\b(?:was|were|totaled|totalled|reached|of|with|and|from|to) {_FIGURE_TEXT}(?P<percent> ?%| percent)?"
            rf"(?: (?P<unit>[a-z]+))? (?:in|for|during) (?:fiscal |the year |fiscal year )?{self.years[side]}(?!\w)",
            re.IGNORECASE,
        )
        found = list(form.finditer(subject.rest))
        if len(found) != 1:
            return None
        match = found[0]
        before = words_of(re.sub(_FIGURE_ALONE, " ", subject.rest[: match.start()]))
        if not set(before) <= _LINKING | {match["unit"] or ""}:
            return None
        sign, percent, unit = match["sign"] or "", match["percent"] or "", match["unit"] or ""
        value = value_of(match)
        figure = " ".join(part for part in (match["number"], match["scale"]) if part)
        return SideFact(f"{sign}{figure}{percent} {unit}".strip(), f"{sign} {percent.strip()} {unit}", value, value)

    def verdict(self, stated: Sequence[SideFact]) -> str | None:
        """Yes or no with both figures; None when they are equal or in different units."""
        first, last = stated
        if not first.is_below(last) and not last.is_below(first):
            return None
        label = "Yes" if first.is_below(last) is self.rises else "No"
        return f"{label}: {self.measure}, {first.text} in {self.years[0]}, {last.text} in {self.years[1]}."


def parse_figure_questions(question: str) -> tuple[DecidableQuestion, ...]:
    """The readings of a question that compares two figures; none for any other question."""
    for form in (_CHANGE, _HIGHER_IN):
        match = form.match(question)
        if match is not None:
            how = match["how"].lower()
            rises = how.startswith(tuple(_RISE)) or how in ("grown", "risen", "higher", "larger", "greater", "more")
            return (FigureChange(match["what"], (match["first"], match["last"]), rises),)
    choice = parse_choice_question(question)
    if choice is not None:
        dimension, count, names = _ASK_DIMENSION.match(choice.ask), _ASK_COUNT.match(choice.ask), choice.sides
    else:
        dimension, count = _IS_DIMENSION.match(question), _DOES_COUNT.match(question)
        sides = dimension or count
        names = None if sides is None else clean_names(sides["a"], sides["b"])
    if names is None:
        return ()
    if dimension is not None:
        return _dimension(names, dimension["how"].lower(), asked=choice is not None)
    return () if count is None else _count(names, count["how"].lower(), count["what"].lower(), asked=choice is not None)


def _dimension(names: tuple[str, str], how: str, *, asked: bool) -> tuple[DecidableQuestion, ...]:
    label, larger = how.capitalize() if asked else "", how not in _SHORT
    return tuple(
        FigureComparison(names, _with_unit(adjective, noun), "", label, larger)
        for words, adjective, noun in _DIMENSIONS
        if how in words
    )


def _with_unit(adjective: str, noun: str) -> re.Pattern[str]:
    """191 m tall, a height of 191 m."""
    lead, behind = rf"\b(?:{noun}) of ", rf"(?: \([^()]*\))?[ -](?:{adjective})\b"
    return re.compile(rf"(?P<of>{lead})?{_FIGURE_TEXT}[ -]?(?P<unit>{_UNIT})\b(?(of)|{behind})", re.IGNORECASE)


def _count(names: tuple[str, str], how: str, what: str, *, asked: bool) -> tuple[DecidableQuestion, ...]:
    """46 floors, a capacity of 4,000 pallets."""
    if re.match(_NO_UNIT, what):
        return ()
    noun = rf"{re.escape(what.removesuffix('s'))}s?"
    form = re.compile(
        rf"(?P<of>\b{noun} of )?{_FIGURE_TEXT}(?(of)(?: (?P<unit>(?!{_NO_UNIT})[a-z]+))?|[ -]{noun}\b)", re.IGNORECASE
    )
    return (FigureComparison(names, form, what, how.capitalize() if asked else "", how not in _DOWN),)


def value_of(match: re.Match[str]) -> Fraction:
    """The number of a figure."""
    said = match["number"].lower()
    number = Fraction(_NUMBERS[said]) if said in _NUMBERS else Fraction(said.replace(",", ""))
    return number * _SCALES.get((match["scale"] or "").lower(), 1)
