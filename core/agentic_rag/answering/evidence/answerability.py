"""Whether the passages found support an answer.

    support = σ( weights · signs − offset )

No sign tells it alone: a question on a subject that the corpus treats finds passages of high scores whether or not they
hold the answer. Each sign has an absolute scale, so one set of weights serves every corpus; where support becomes too
low does differ by corpus, and a workspace may calibrate it (`rag eval calibrate`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from agentic_rag.answering.answer import Support
from agentic_rag.answering.evidence.named import lacks_name
from agentic_rag.answering.evidence.threshold import DEFAULT_THRESHOLD
from agentic_rag.answering.extraction.candidate_units import CandidateUnit, Subquery, column_names, segment_passage
from agentic_rag.answering.extraction.contradiction import MONTHS
from agentic_rag.answering.extraction.extractive import PartDraft
from agentic_rag.answering.extraction.reading import MOST_APART, ReadSigns
from agentic_rag.answering.extraction.term_matching import lower_text, mask_of, weight_of
from agentic_rag.answering.gate_decision import FeatureContribution
from agentic_rag.language.calendar import MONTH_NAMES
from agentic_rag.language.tables import is_row
from agentic_rag.retrieval.candidates import SCORE_DIGITS, Passage, Retriever
from agentic_rag.retrieval.confidence import RankingConfidence

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

LEADING_PASSAGES = 3
"""Passages that a name of the question, or a link, may stand in: as many as a path has hops."""
NEIGHBOUR_CREDIT = 0.8
"""Of a term in the sentences beside the chosen one."""
DISTANT_LITERAL_PENALTY = 0.2
"""How far a figure or identifier of the question is missing that stands only elsewhere in the passage."""
MOST_TELLING_ODDS = 4.0
"""The weights of the odds were fitted on odds up to here. Higher ones tell which answer is right (`certainty`), not
whether the passages hold one.
"""

_QUARTERS = ("first", "second", "third", "fourth")


@dataclass(frozen=True, slots=True)
class AnswerabilityFeatures:
    """What speaks for and against an answer. Shares are of the weight of the question's content terms."""

    best: float
    """As in `RankingConfidence`."""
    dense: float
    ahead: float
    covered: float
    """The share that the first passage holds, or the passages of the path together."""
    near: float
    """The share in the best sentence, its title, headings and table header; beside it `NEIGHBOUR_CREDIT`."""
    linked: float
    """The graph arm's score of a passage among the first."""
    onward: float
    """As in `RankingConfidence`."""
    unnamed: float
    """The share of names of the question that none of the first passages holds."""
    unmarked: float
    """The share of figures, identifiers and periods of the question that the sentence and its surroundings lack."""
    unfit: float
    """1 when no sentence has the figure, date or person that is asked for."""
    unasked: float
    """1 when the first passage lacks the word for what is asked (the *salary* of …, which *university* …)."""
    unheld: float
    """1 when a name in the question stands in none of the passages."""
    unmatched: float
    """As in `ReadSigns`; 0 where no model reads."""
    apart: float
    odds: float
    """As in `ReadSigns`; 0 where no model reads."""
    likely: float
    """The odds above even ones: a unit that answers says more for the passages than one that does not says against
    them.
    """


NEGATIVE_FEATURES = frozenset({"unnamed", "unmarked", "unfit", "unasked", "unheld", "unmatched"})
"""Signs that speak against an answer; all others speak for it. A fit may not turn one round."""


@dataclass(frozen=True, slots=True)
class SupportWeights:
    """The linear score of the signs, in their order. Most are fitted by eval/training/train_support.py;
    eval/quality_log.md says which are not, and what they earn.
    """

    best: float = 1.0
    dense: float = 2.1
    ahead: float = 4.6
    covered: float = 0.2
    near: float = 1.2
    linked: float = 2.8
    onward: float = 2.8
    unnamed: float = -3.3
    unmarked: float = -1.0
    """-0.2 by the fit, on questions that seldom name a figure; one about another quarter or device has no answer."""
    unfit: float = -2.0
    unasked: float = -0.2
    unheld: float = -2.5
    """-1.2 by the fit, which had few such questions; one about what no passage names has no answer in them."""
    unmatched: float = -8.6
    apart: float = 8.8
    odds: float = 0.6
    likely: float = 0.2
    """Both, `linked` and the offset: chosen together on questions of work places, natural ones and seven public sets;
    eval/quality_log.md says what they earn.
    """
    offset: float = 2.0
    """eval/quality_log.md says on how many questions with and without an answer the default threshold abstains."""


SUPPORT_READ = SupportWeights()
SUPPORT_BY_WORDS = SupportWeights(
    linked=1.1, unfit=-0.2, unheld=-1.2, unmatched=0.0, apart=0.0, odds=0.0, likely=0.0, offset=3.0
)
"""Where no model reads: a language without one tells less surely what has the figure asked for."""


HELD_WEIGHTS = {"odds": 0.31, "covered": 1.8, "apart": 5.7}
HELD_OFFSET = 1.7
LEAST_HELD = 0.12
"""Of what speaks for an answer in the passages themselves, however alike the search found them. Fitted on ten sets with
and without what answers; eval/quality_log.md says what the line abstains on.
"""


def is_held(support: Support) -> bool:
    """True where the passages hold enough of the question, their likeliest unit may answer and leads over those of
    other documents; also where no model read them.
    """
    signs = {one.name: one for one in support.contributions if one.weight and one.name in HELD_WEIGHTS}
    if len(signs) < len(HELD_WEIGHTS):
        return True
    values = {name: one.value for name, one in signs.items()}
    return weigh_signs(values, HELD_WEIGHTS | {"offset": HELD_OFFSET}, LEAST_HELD).enough


def support_weights(read: ReadSigns | None) -> SupportWeights:
    """The weights in force for a part whose units say `read`."""
    return SUPPORT_BY_WORDS if read is None else SUPPORT_READ


def extract_features(
    part: Subquery,
    draft: PartDraft,
    passages: Sequence[Passage],
    trail: Sequence[int],
    standing: RankingConfidence,
    found: Sequence[Passage] | None = None,
    read: ReadSigns | None = None,
) -> AnswerabilityFeatures:
    """The signs for one part, drafted from `passages`; `found` are those of them that its own search found, best first
    (all, when left out); `path` are ordinals of passages that lead to one another; `read` is what its units say.
    """
    first_found = (passages if found is None else found)[:LEADING_PASSAGES]
    held = [_term_mask(passage, part) for passage in first_found]
    along = [passage for passage in passages if passage.chunk.ordinal in trail]
    together = 0
    for passage in along:
        together |= _term_mask(passage, part)
    everywhere = 0
    for mask in held:
        everywhere |= mask
    first = held[0] if held else 0
    odds = 0.0 if read is None else min(MOST_TELLING_ODDS, read.odds)
    return AnswerabilityFeatures(
        best=standing.top_score,
        dense=standing.dense_score,
        ahead=standing.margin,
        covered=max(weight_of(first, part.terms), weight_of(together, part.terms)),
        near=max((_near(part, unit) for unit in draft.units), default=0.0),
        linked=max((_graph_score(passage) for passage in first_found), default=0.0),
        onward=standing.path_probability,
        unnamed=weight_of(part.name_mask & ~everywhere, part.terms),
        unmarked=min((_missing_literal_share(part, unit, passages, along) for unit in draft.units), default=1.0),
        unfit=float(not any(unit.fits for unit in draft.units)),
        unasked=float(bool(part.target_mask & ~first)),
        unheld=float(lacks_name(part.text, passages)),
        unmatched=0.0 if read is None else read.unmatched,
        apart=0.0 if read is None else read.apart,
        odds=odds,
        likely=max(0.0, odds),
    )


def score_support(
    signs: AnswerabilityFeatures, threshold: float = DEFAULT_THRESHOLD, weights: SupportWeights = SupportWeights()
) -> Support:
    """What the signs come to, rounded to 1e-6."""
    return weigh_signs(values_by_name(signs), values_by_name(weights), threshold)


def is_enough_without_lead(support: Support) -> bool:
    """True where support would do if one document alone had been read: readings of a question stand in several, so that
    none of them leads.
    """
    lead = next((one for one in support.contributions if one.name == "apart"), None)
    if support.enough or lead is None:
        return support.enough
    odds = support.score / (1.0 - support.score) * math.exp(lead.weight * (MOST_APART - lead.value))
    return odds / (1.0 + odds) >= support.threshold


def values_by_name(one: DataclassInstance) -> dict[str, float]:
    """The fields of a value; `asdict` copies each deeply, which takes a tenth of a draft."""
    return {field.name: getattr(one, field.name) for field in fields(one)}


def weigh_signs(signs: Mapping[str, float], weights: Mapping[str, float], threshold: float) -> Support:
    """The logistic function of the weighted signs less the weight `offset`, rounded to 1e-6."""
    contributions = tuple(
        FeatureContribution(name, value, weights[name], round(value * weights[name], SCORE_DIGITS))
        for name, value in signs.items()
    )
    score = math.fsum(one.contribution for one in contributions) - weights["offset"]
    return Support(round(1.0 / (1.0 + math.exp(-score)), SCORE_DIGITS), threshold, contributions)


def _term_mask(passage: Passage, part: Subquery) -> int:
    chunk = passage.chunk
    above = lower_text(" ".join((chunk.document_title, *chunk.heading_path)))
    return mask_of(above, part.terms) | segment_passage(passage).mask(part.terms)


def _graph_score(passage: Passage) -> float:
    return max((arm.normalised for arm in passage.candidate.arms if arm.retriever is Retriever.GRAPH), default=0.0)


def _near(part: Subquery, unit: CandidateUnit) -> float:
    own = unit.mask | unit.context_mask
    return weight_of(own, part.terms) + NEIGHBOUR_CREDIT * weight_of(unit.near_mask & ~own, part.terms)


def _missing_literal_share(
    part: Subquery, unit: CandidateUnit, passages: Sequence[Passage], along: Sequence[Passage]
) -> float:
    """The share of the question's figures and identifiers that do not stand by the unit; `DISTANT_LITERAL_PENALTY` of
    it for one elsewhere in its passage or in one of the path.
    """
    if not part.literals:
        return 0.0
    passage = passages[unit.passage]
    low = segment_passage(passage).low
    chunk = passage.chunk
    above = " ".join((chunk.document_title, *chunk.heading_path, *_heading(unit, low), *_column_names(unit, passage)))
    above = above.lower()
    around = [low, *(segment_passage(other).low for other in along)]
    lacking = 0.0
    for mark in part.literals:
        found = re.compile(rf"(?<![\w.,]){_either_way(mark)}(?![\w]|[.,]\d)")
        if found.search(low, *unit.near_span) or found.search(above):
            continue
        share = weight_of(mask_of(mark, part.terms) | mask_of(mark.replace(",", ""), part.terms), part.terms)
        lacking += share * (DISTANT_LITERAL_PENALTY if any(found.search(text) for text in around) else 1.0)
    return min(1.0, lacking)


def _heading(unit: CandidateUnit, low: str) -> tuple[str, ...]:
    return () if unit.heading is None else (low[slice(*unit.heading)],)


def _column_names(unit: CandidateUnit, passage: Passage) -> tuple[str, ...]:
    is_cells = is_row(passage.chunk.text[unit.start : unit.end])
    return (column_names(passage, unit.start),) if is_cells else ()


def _either_way(mark: str) -> str:
    """A figure with or without thousands separators, an identifier with any hyphen or a space."""
    digits = mark.replace(",", "")
    if digits.isdigit():
        return ",?".join(digits)
    if mark.endswith(" quarter"):
        return rf"(?:{mark}|q{_QUARTERS.index(mark.split()[0]) + 1})"
    if mark in MONTHS:
        return rf"(?:{mark}|{mark[:3]}\.?|(?:19|20)\d\d-{MONTH_NAMES.index(mark) + 1:02d}-\d\d)"
    return re.sub(r"(?:\\-|‑)", "[-‐‑– ]?", re.escape(mark))
