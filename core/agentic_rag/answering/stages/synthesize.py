"""Synthesize: draft the answer from the passages, or say why there is none."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from agentic_rag.answering.answer import AbstentionReason, Support
from agentic_rag.answering.evidence.answerability import (
    extract_features,
    is_held,
    score_support,
    support_weights,
)
from agentic_rag.answering.evidence.certainty import (
    CERTAINTY_BY_WORDS,
    CertaintyWeights,
    find_certainty_signs,
    score_certainty,
)
from agentic_rag.answering.evidence.finder import EvidenceFinder
from agentic_rag.answering.evidence.other_language import is_of_other_language
from agentic_rag.answering.evidence.other_slot import is_of_something_else, without_others
from agentic_rag.answering.evidence.other_things import is_of_other_things
from agentic_rag.answering.evidence.padding import cut_to_values, without_farther, without_padding
from agentic_rag.answering.evidence.prune_draft import explain_shortfall
from agentic_rag.answering.evidence.stated import fits_question, is_stated
from agentic_rag.answering.extraction.candidate_units import CandidateUnit, Subquery
from agentic_rag.answering.extraction.contradiction import are_dated_issues
from agentic_rag.answering.extraction.disagreement import find_contradiction
from agentic_rag.answering.extraction.extractive import (
    MAX_NEAREST,
    DraftSentence,
    PartDraft,
    add_figures,
    draft_part,
    join_parts,
    nearest_sentences,
    statement_of,
    time_of,
    with_names,
)
from agentic_rag.answering.extraction.multi_hop import draft_from_path
from agentic_rag.answering.lazy_snapshot import LazySnapshot
from agentic_rag.answering.messages import Message, RunMessage
from agentic_rag.answering.ports import UnitReader
from agentic_rag.answering.query.rewrite import has_placeholder, mask_placeholder
from agentic_rag.answering.run_state import Draft, RunState, Shortfall, StageResult
from agentic_rag.answering.shapes.choice import choose_answer
from agentic_rag.answering.shapes.compared import name_sides
from agentic_rag.answering.shapes.forms import drafts_below_questions
from agentic_rag.answering.shapes.question_kind import QuestionKind, question_kind
from agentic_rag.answering.shapes.table import Choice, asks_twice, most_sentences, shape_part
from agentic_rag.answering.siblings.left_out import leaves_some_out
from agentic_rag.answering.siblings.unaccounted import unaccounted_words
from agentic_rag.answering.stages.amendments import find_amendment
from agentic_rag.answering.stages.leave_out import leave_out_outvoted
from agentic_rag.answering.stages.read_units import PartReading, is_told_by_one, odds_of, read_units
from agentic_rag.answering.stages.several_things import not_established, of_several_things, several_readings
from agentic_rag.answering.tools.quote_document import quote_document
from agentic_rag.language.words.word_tables import table_of
from agentic_rag.retrieval.candidates import FIGURES, Passage
from agentic_rag.retrieval.title_match import are_editions, refers_to_documents

MIN_PATH_PROBABILITY = 0.09
"""Below, the passages of most questions that need one passage lead to one another by chance."""
MANY_TERMS = 9
"""Content terms of a question that leads over something it does not name, where it names nothing at all."""
_NAME = re.compile(
    r"(?<=[\w,;:)&’'\"“(] )[\"“‘'(]?(?!(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b)[A-ZÀ-Þ][\w’'-]*[a-zß-ÿ]"
)
"""A capital that does not open the question, but for weekdays and what is written in capitals alone (RAM, VPN)."""
_PERSONAL = re.compile(r"\b(?:I|my|me|we|our|us|I'm)\b", re.IGNORECASE)
"""Who asks for himself asks about one rule or one case."""
_CHANGES = re.compile(r"^how (?:has|have|did) .+ (?:chang|develop)", re.IGNORECASE)
"""A question for one thing at two times."""
_NEVER_MULTI_HOP = frozenset({
    QuestionKind.STEPS, QuestionKind.LIST, QuestionKind.DEFINITION, QuestionKind.DOCUMENTS, QuestionKind.REASON,
    QuestionKind.SUMMARY,
})  # fmt: skip
_SEVERAL_DOCUMENTS = frozenset({QuestionKind.LIST, QuestionKind.COMPARISON, QuestionKind.DOCUMENTS})
"""Kinds whose answers stand in several documents."""


class SynthesizeStage:
    """Extractive: the sentences that answer, each with the span it quotes."""

    def __init__(
        self, finders: Sequence[EvidenceFinder], reader: UnitReader | None = None, choose: Choice = choose_answer
    ) -> None:
        self._finders = finders
        self._reader = reader
        self._choose = choose

    async def run(self, state: RunState, reads: LazySnapshot) -> StageResult:
        """Attach the draft, or the nearest evidence with the reason to abstain."""
        state = await leave_out_outvoted(state, reads)
        known = quote_document(state) or _quote_cells(state)
        if known is not None:
            return StageResult(known)
        found, excluded = state.retrieved, state.checked.excluded
        kinds, asked = _kinds_of_parts(state), _evidence_of_parts(state)
        readings = await read_units(self._reader, asked, kinds)
        drafts = [
            replace(
                draft_part(
                    query, place, evidence, most_sentences(kind, query.text), excluded, reading.held, reading.units
                ),
                blocks=reading.blocks,
                read=reading.read,
            )
            for place, ((query, evidence), kind, reading) in enumerate(zip(asked, kinds, readings, strict=True))
        ]
        supports = _support_of_parts(state, asked, drafts, readings)
        support = _support_of_question(state, drafts, supports, readings)
        draft = replace(state.draft, support=support, certainty=None, missing=(), shortfall=None)
        drafts = drafts_below_questions(asked, drafts, excluded) if support.enough else drafts
        is_drafted = any(part.sentences for part in drafts)
        if is_drafted and len(asked) == 1 and not found.figures:
            question = (asked[0][0], kinds[0], readings[0].held)
            several = of_several_things(draft, question, asked[0][1], support, excluded)
            if several is not None:
                return _with_draft(state, several)
        if not support.enough or not is_drafted:
            return _with_draft(state, _show_nearest(state, draft, nearest_sentences(found.passages, drafts)))
        if found.whole is not None and _is_multi_hop(state, kinds[0], readings):
            chained = draft_from_path(found.whole.query, found.path, found.passages, excluded)
            if chained.sentences:
                draft = replace(draft, sentences=join_parts([chained]), is_conflicting=False)
                whole = {0: (found.whole.query, kinds[0], _join_readings(readings))}
                return _with_draft(state, _weigh_answer(state, draft, whole, is_path=True))
        kept = _parts_with_support(drafts, supports)
        is_conflicting = any(drafts[place].conflicting for place in kept)
        shaped = [
            shape_part(kinds[place], asked[place][0], place, asked[place][1], drafts[place], excluded, self._choose)
            for place in kept
        ]
        joined = join_parts(name_sides(asked, shaped))
        sentences = add_figures(joined, found.figures, found.passages, excluded, conflicting=is_conflicting)
        missing_fact = _find_missing_fact(self._finders, state, sentences)
        if missing_fact is not None:
            why = RunMessage(Message.MISSING_FACT, missing_fact)
            nearest = _show_nearest(state, draft, nearest_sentences(found.passages, drafts))
            return _with_draft(state, replace(nearest, shortfall=Shortfall(AbstentionReason.NOT_STATED, why)))
        missing = _missing_parts(state, [place for place in range(len(drafts)) if place not in kept])
        draft = replace(
            draft,
            sentences=sentences,
            is_conflicting=is_conflicting,
            missing=missing,
            shortfall=explain_shortfall(state, missing),
        )
        weighed = {one: (asked[one][0], kinds[one], readings[one]) for one in kept}
        return _with_draft(state, _weigh_answer(state, draft, weighed))


def _quote_cells(state: RunState) -> RunState | None:
    """The rows that the question names by their labels and columns; several contradict each other or are its readings.
    None without any that no self-check refused.
    """
    found = state.retrieved
    if not found.is_exact:
        return None
    sides = _rows_that_disagree(state)
    is_conflicting = bool(sides)
    named = add_figures((), sides or found.figures, found.passages, state.checked.excluded, conflicting=is_conflicting)
    if not named:
        return None
    why = several_readings() if len(named) > 1 and not is_conflicting else None
    sentences = with_names(named, found.passages)
    draft = replace(state.draft, sentences=sentences, is_conflicting=is_conflicting, missing=(), shortfall=why)
    return replace(state, draft=draft)


def _rows_that_disagree(state: RunState) -> list[CandidateUnit]:
    """The row named in two documents with another value in each, what is dated earlier first; none where the titles
    differ by a date or number alone.
    """
    found, whole = state.retrieved, state.retrieved.whole
    rows = [
        unit
        for unit in found.figures
        if (found.passages[unit.passage].chunk.ordinal, unit.start) not in state.checked.excluded
    ]
    stated = partial(statement_of, passages=found.passages)
    sides = None if whole is None else find_contradiction(rows, found.passages, whole.query, stated)
    if sides is None or are_dated_issues(*(found.passages[one.passage].chunk.document_title for one in sides)):
        return []
    return sorted(sides, key=lambda one: time_of(one, found.passages))


def _show_nearest(state: RunState, draft: Draft, nearest: tuple[DraftSentence, ...]) -> Draft:
    """The nearest sentences in the place of an answer that nothing supports."""
    reason, why = AbstentionReason.LOW_SUPPORT, Message.TOO_LITTLE
    if not nearest:
        reason, why = AbstentionReason.NO_EVIDENCE, Message.NOTHING_FOUND
    return replace(draft, sentences=nearest, shortfall=_no_answer(state, reason, why))


def _no_answer(state: RunState, reason: AbstentionReason, why: Message) -> Shortfall:
    """Why there is none; passages in another language than the question say it by themselves."""
    if is_of_other_language(state.question.text, state.retrieved.passages):
        reason, why = AbstentionReason.OTHER_LANGUAGE, Message.OTHER_LANGUAGE
    return Shortfall(reason, RunMessage(why))


def _weigh_answer(
    state: RunState,
    draft: Draft,
    parts: Mapping[int, tuple[Subquery, QuestionKind, PartReading]],
    *,
    is_path: bool = False,
) -> Draft:
    """The draft with the certainty of the part that is answered least certainly: as the nearest evidence where it
    states no such thing as is asked, as uncertain where it is not established, and else without padding: along a path
    (`is_path`) no sentence is padding.
    """
    found, support = state.retrieved, draft.support
    if found.whole is None or found.figures or draft.is_conflicting or support is None:
        return draft
    weighed: list[Support] = []
    kept: list[DraftSentence] = []
    has_forms, is_part = True, False
    for place, (part, kind, reading) in parts.items():
        said = [one for one in draft.sentences if one.part == place] or draft.sentences
        is_whole = is_path or kind in _SEVERAL_DOCUMENTS or asks_twice(part.text)
        grounds: Sequence[DraftSentence] = said
        if not is_whole:
            said = without_others(part, said, found.passages)
            grounds = without_padding(part, said, found.passages, reading.read)
            grounds = without_farther(part, kind, grounds, found.passages, reading.read)
        kept += [one for one in grounds if one not in kept]
        is_read = reading.signs is not None
        has_forms = has_forms and fits_question(part, kind, grounds, found.passages, is_read=is_read)
        is_part = is_part or leaves_some_out(part, kind, grounds, found.passages)
        odds = odds_of(reading, said)
        signs = find_certainty_signs(part, said, found.passages, reading.documents, support, reading.signs, odds)
        weighed.append(score_certainty(signs, CERTAINTY_BY_WORDS if reading.signs is None else CertaintyWeights()))
    certainty = min(weighed, key=lambda one: one.score)
    draft = replace(draft, certainty=certainty)
    whole = found.whole.query
    stated = is_stated(whole, draft.sentences, found.passages)
    is_found = is_path or len(parts) > 1 or is_held(support)
    is_told = is_found and (stated or certainty.enough)
    if is_of_other_things(whole.text, draft.sentences, found.passages) or not is_told:
        shortfall = _no_answer(state, AbstentionReason.NOT_STATED, Message.NOT_STATED)
        return replace(draft, sentences=draft.sentences[:MAX_NEAREST], missing=(), shortfall=shortfall)
    has_all = len(kept) == len(draft.sentences)
    is_stated_alone = stated and (has_all or is_stated(whole, kept, found.passages))
    asked = {} if is_path else {place: (part, reading.units) for place, (part, _, reading) in parts.items()}
    cut = cut_to_values(kept, asked, found.passages)
    is_certain = certainty.enough and has_forms and is_stated_alone
    is_certain = is_certain and not is_of_something_else(whole, cut, found.passages)
    lacking = unaccounted_words(whole, cut, found.passages) if is_certain else ()
    is_part = is_part and is_certain and not lacking
    is_certain = is_certain and not (lacking or is_part)
    shown = cut if is_certain else cut_to_values(draft.sentences, asked, found.passages)
    amendment = find_amendment(whole, shown, found.passages, state.checked.excluded)
    if amendment is not None:
        shown = (*shown, amendment)
        draft = replace(draft, is_conflicting=is_certain)
    why = draft.shortfall if is_certain else not_established(lacking, is_part=is_part)
    return replace(draft, sentences=shown, shortfall=why)


def _join_readings(readings: Sequence[PartReading]) -> PartReading:
    """The readings of all parts as one of the undivided question."""
    told = [one.signs for one in readings if one.signs is not None]
    signs = min(told, key=lambda one: one.unmatched, default=None)
    return replace(readings[0], documents=max(one.documents for one in readings), signs=signs)


def _with_draft(state: RunState, draft: Draft) -> StageResult:
    return StageResult(replace(state, draft=draft))


def _find_missing_fact(
    finders: Sequence[EvidenceFinder], state: RunState, sentences: Sequence[DraftSentence]
) -> str | None:
    """A fact that a question about editions of a document requires, and that no sentence states."""
    found = state.retrieved
    if found.whole is None or not are_editions(found.passages):
        return None
    facts = (one.missing_fact(found.whole.query, found.passages, sentences) for one in finders)
    return next((fact for fact in facts if fact is not None), None)


def _kinds_of_parts(state: RunState) -> list[QuestionKind]:
    """The kind of each part; of an undivided question by the words of the question."""
    found = state.retrieved
    if len(found.parts) == 1:
        return [question_kind(state.question.text, state.question.answer_type)]
    return [question_kind(part.query.text, part.query.answer_type) for part in found.parts]


def _evidence_of_parts(state: RunState) -> list[tuple[Subquery, Sequence[Passage]]]:
    """The query of each part and the passages to read. A later part that stands for its subject with a pronoun ("and
    who issues it?") is asked with the words of the whole question, of all passages.
    """
    found = state.retrieved
    parts = state.question.sub_questions
    asked: list[tuple[Subquery, Sequence[Passage]]] = []
    for place, part in enumerate(found.parts):
        if found.whole is None or not parts[place].depends_on or has_placeholder(parts[place]):
            asked.append((part.query, found.passages))
            continue
        query = replace(found.whole.query, text=part.query.text, answer_type=part.query.answer_type)
        everywhere = [replace(passage, parts=(place,)) for passage in found.passages]
        asked.append((query, everywhere))
    return asked


def _support_of_parts(
    state: RunState,
    asked: Sequence[tuple[Subquery, Sequence[Passage]]],
    drafts: Sequence[PartDraft],
    readings: Sequence[PartReading],
) -> list[Support]:
    found = state.retrieved
    return [
        score_support(
            extract_features(
                query,
                draft,
                evidence,
                found.path if len(found.parts) == 1 else (),
                part.confidence,
                [passage for passage in evidence if place in passage.parts],
                readings[place].signs,
            ),
            state.options.support_threshold,
            support_weights(readings[place].signs),
        )
        for place, (part, (query, evidence), draft) in enumerate(zip(found.parts, asked, drafts, strict=True))
    ]


def _support_of_question(
    state: RunState, drafts: Sequence[PartDraft], supports: Sequence[Support], readings: Sequence[PartReading]
) -> Support:
    """The support of the undivided question; of its best part when it was not searched as a whole."""
    if len(drafts) == 1:
        return supports[0]
    found, whole = state.retrieved, state.retrieved.whole
    if whole is None:
        return max(supports, key=lambda one: one.score, default=Support(0.0, state.options.support_threshold))
    everywhere = [passage if passage.origin == FIGURES else replace(passage, parts=(0,)) for passage in found.passages]
    draft = draft_part(whole.query, 0, everywhere, 1)
    read = _join_readings(readings).signs
    features = extract_features(whole.query, draft, found.passages, found.path, whole.confidence, read=read)
    return score_support(features, state.options.support_threshold, support_weights(read))


def _parts_with_support(drafts: Sequence[PartDraft], supports: Sequence[Support]) -> list[int]:
    """The parts that are answered: those with enough support, and the best one in any case."""
    drafted = [place for place, draft in enumerate(drafts) if draft.sentences]
    best = max(drafted, key=lambda place: (supports[place].score, -place))
    return [place for place in drafted if place == best or supports[place].enough]


def _is_multi_hop(state: RunState, kind: QuestionKind, readings: Sequence[PartReading]) -> bool:
    """Passages lead to one another, no unit answers by itself, and the question does not ask for several independent
    things.
    """
    if not state.retrieved.path or table_of(state.question.text) is not None:
        return False
    parts = state.question.sub_questions
    if len(parts) > 1 and not any(has_placeholder(part) for part in parts):
        return False
    found = state.retrieved
    if found.whole is None or found.whole.confidence.path_probability < MIN_PATH_PROBABILITY:
        return False
    if _PERSONAL.search(state.question.text) or kind in _NEVER_MULTI_HOP:
        return False
    if not _NAME.search(state.question.text) and len(found.whole.query.terms) < MANY_TERMS:
        return False
    if is_told_by_one(found.whole.query, readings):
        return False
    return not (_CHANGES.search(state.question.text) or refers_to_documents(state.question.text, found.passages))


def _missing_parts(state: RunState, places: Sequence[int]) -> tuple[str, ...]:
    """The parts without support, then those that were not searched: for lack of time or of an earlier finding."""
    parts = state.retrieved.parts
    unsearched = state.question.sub_questions[len(parts) :]
    return (*(parts[place].query.text for place in places), *(mask_placeholder(part) for part in unsearched))
