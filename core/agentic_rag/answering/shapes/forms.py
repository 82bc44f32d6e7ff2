"""Forms of an answer larger than a sentence: a whole list, the rows of a table, a section, an answered question."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Sequence
from dataclasses import replace
from uuid import UUID

from agentic_rag.answering.extraction.candidate_units import CandidateUnit, Subquery, segment_passage
from agentic_rag.answering.extraction.extractive import DraftSentence, ExcludedSpans, PartDraft
from agentic_rag.answering.extraction.negation import has_negation
from agentic_rag.answering.extraction.part_units import PartUnits
from agentic_rag.answering.extraction.segmented_text import Span
from agentic_rag.answering.extraction.term_matching import lower_text, mask_of, weight_of
from agentic_rag.answering.extraction.text_blocks import RankedBlock, TextBlock, TextBlockKind, find_blocks
from agentic_rag.answering.extraction.text_units import LIST_MARK, QUOTABLE, UnitKind, format_unit
from agentic_rag.answering.shapes.rank_blocks import rank_blocks
from agentic_rag.language.sentences import sentence_spans
from agentic_rag.language.tables import format_row
from agentic_rag.language.words.word_table import WordTable
from agentic_rag.language.words.word_tables import table_of
from agentic_rag.retrieval.candidates import Passage

LONGEST_BLOCK = 1200
"""Characters: more is no answer but a document."""
MAX_DOCUMENTS = 6
MIN_DOCUMENT_SHARE = 0.7
"""Of what the best sentence holds of the question."""
SURE_SCORE = 0.85
"""Of a sentence that the next one may qualify."""
MIN_BLOCK_RATIO = 0.9
"""A block must score at least this share of the best sentence's score."""
MIN_ASKED_SHARE = 0.6
"""Of the question's weight that a question in the text must hold, with what stands above it, to be the same one."""
ALL_ASKED = 0.999
"""The same of a question by itself, where nothing else of the text speaks for it."""
MAX_LEAD = 20
"""Characters before the term in a sentence that defines it."""
_DEFINED = re.compile(
    r"^(?:what (?:exactly )?(?:is|are)|what's|define) (?:meant by |the (?:meaning|definition) of )?(?:an? |the )?"
    r"[\"“'‘]?(?P<a>[^\"”?]{2,60}?)[\"”'’]?\W*$|"
    r"^what (?:do|does|is) (?:an? |the |it mean to )?[\"“'‘]?(?P<b>[^\"”?]{2,60}?)[\"”'’]? "
    r"(?:mean|meant|stand for)\b",
    re.IGNORECASE,
)
_CODE = re.compile(r"[A-Z]{1,4}-?\d{1,4}")
"""Names a message or fault by itself, where no words behind it say of which machine: those before it say of what kind
it is.
"""
_STANDS_FOR = re.compile(r"\bstands? for\b", re.IGNORECASE)
_ABBREVIATION = re.compile(r"[A-Z]{2,8}")
_QUESTION_LINE = re.compile(r"[?？][*_]*\n")
_FAILS = re.compile(r"\b(?:fail(?:s|ed|ing)?|unable|impossible)\b", re.IGNORECASE)
"""In a question as much as a negation: the pump fails to start, it does not start."""
_ASKS_NAME = re.compile(r"\b(?:called|named|known as)\W*$", re.IGNORECASE)
_NOT_DONE = (
    r"(?!(?:also |only |not |always |never |currently |already |now |still |then |[a-z]+ly )*"
    r"(?:[a-z]+(?:ed|ing)|known to|set|made|built|put|held|kept|shown|given|taken|found|done|in|on|at|from|by|to)\b"
    r"(?! (?:as|by the name)\b))"
)
"""Behind "is": what follows is no participle, but for "known as", and no preposition."""
LONGEST_ANSWER, MOST_ANSWERED = 400, 3
"""Characters and sentences quoted below a question of the text, where a value, a reason or yes or no is asked for."""


def ranked_blocks(
    part: Subquery, place: int, passages: Sequence[Passage], draft: PartDraft, kinds: Collection[TextBlockKind]
) -> list[RankedBlock]:
    """The blocks of these kinds, best first: in the order of the reader where they were read."""
    if draft.blocks:
        return [one for one in draft.blocks if one.block.kind in kinds]
    return rank_blocks(part, place, passages, kinds)


def answered_before(
    part: Subquery, place: int, passages: Sequence[Passage], draft: PartDraft, excluded: ExcludedSpans
) -> tuple[DraftSentence, ...]:
    """What stands first below the same question in a text; behind that question where it has no word of it."""
    return _asked_and_answered(part, place, passages, excluded, is_alone=False)


def drafts_below_questions(
    asked: Sequence[tuple[Subquery, Sequence[Passage]]], drafts: Sequence[PartDraft], excluded: ExcludedSpans
) -> list[PartDraft]:
    """For parts of which no sentence has a word: a question of a text that has all of its words, with what stands first
    below it: "No, never.". Where one part has sentences, the drafts as they are.
    """
    if any(one.sentences for one in drafts):
        return list(drafts)
    return [
        replace(draft, sentences=_asked_and_answered(part, place, passages, excluded, is_alone=True))
        for place, ((part, passages), draft) in enumerate(zip(asked, drafts, strict=True))
    ]


def _asked_and_answered(
    part: Subquery, place: int, passages: Sequence[Passage], excluded: ExcludedSpans, *, is_alone: bool
) -> tuple[DraftSentence, ...]:
    """With its question where it has no word of it: nobody knows what "No." is said of."""
    one = _same_question(part, place, passages, excluded, is_alone=is_alone)
    if one is None or one.block.heading is None:
        return ()
    text = passages[one.passage].chunk.text
    start, end = _first_sentences(text, (one.block.start, one.block.end))
    if not mask_of(lower_text(text[start:end]), part.terms):
        asked, stop = one.block.heading
        start = stop - len(text[asked:stop].lstrip("# "))
    return (_sentence(one, passages, place, (start, end), UnitKind.PROSE),)


def answered_whole(
    part: Subquery, place: int, passages: Sequence[Passage], draft: PartDraft, excluded: ExcludedSpans
) -> tuple[DraftSentence, ...]:
    """All that stands below the same question in a text."""
    one = _same_question(part, place, passages, excluded)
    if one is None or one.block.end - one.block.start > LONGEST_BLOCK:
        return answered_before(part, place, passages, draft, excluded)
    return (quote_block(one, passages, place),)


def _same_question(
    part: Subquery,
    place: int,
    passages: Sequence[Passage],
    excluded: ExcludedSpans,
    *,
    is_alone: bool = False,
) -> RankedBlock | None:
    """The section below a heading that asks what the part asks: what may not be done is another question than what
    may. `is_alone` where nothing else of the text speaks for it.
    """
    for one in rank_blocks(part, place, passages, {TextBlockKind.SECTION}, only=_QUESTION_LINE):
        text, heading = passages[one.passage].chunk.text, one.block.heading
        if heading is None or is_excluded(one, passages, excluded):
            continue
        asked = text[slice(*heading)].rstrip("*_")
        if not asked.endswith(("?", "？")) or _denies(asked) != _denies(part.text):
            continue
        held = mask_of(lower_text(asked), part.terms) if is_alone else one.above_mask
        if weight_of(held, part.terms) >= (ALL_ASKED if is_alone else MIN_ASKED_SHARE):
            return one
    return None


def _denies(question: str) -> bool:
    return has_negation(question) or _FAILS.search(question) is not None


def documents_with_it(
    part: Subquery, place: int, passages: Sequence[Passage], draft: PartDraft, excluded: ExcludedSpans
) -> tuple[DraftSentence, ...]:
    """Each document whose best sentence is about what is asked, by title with that sentence."""
    documents: dict[UUID, CandidateUnit] = {}
    units = [
        unit
        for unit in PartUnits(part, place, passages).close_units()
        if (passages[unit.passage].chunk.ordinal, unit.start) not in excluded
    ]
    least = MIN_DOCUMENT_SHARE * max(
        (weight_of(unit.mask | unit.context_mask, part.terms) for unit in units), default=0
    )
    for unit in units:
        if weight_of(unit.mask | unit.context_mask, part.terms) >= least:
            documents.setdefault(passages[unit.passage].chunk.document_id, unit)
    found: list[DraftSentence] = []
    for unit in list(documents.values())[:MAX_DOCUMENTS]:
        chunk = passages[unit.passage].chunk
        said = f"{chunk.document_title} — {format_unit(chunk.text[unit.start : unit.end])}"
        found.append(DraftSentence(place, unit.passage, unit.start, unit.end, said, UnitKind.TITLED, unit.score))
    return tuple(found)


def with_exception(
    part: Subquery, place: int, passages: Sequence[Passage], draft: PartDraft, excluded: ExcludedSpans
) -> tuple[DraftSentence, ...]:
    """The best sentence with the next one, where that denies and names what of the question the first leaves out."""
    return _with_denial(part, place, passages, draft, excluded, is_of_the_same=False)


def value_with_exception(
    part: Subquery, place: int, passages: Sequence[Passage], draft: PartDraft, excluded: ExcludedSpans
) -> tuple[DraftSentence, ...]:
    """The same where both speak of one thing in a word of the question: what denies something else excepts nothing."""
    return _with_denial(part, place, passages, draft, excluded, is_of_the_same=True)


def _with_denial(
    part: Subquery,
    place: int,
    passages: Sequence[Passage],
    draft: PartDraft,
    excluded: ExcludedSpans,
    *,
    is_of_the_same: bool,
) -> tuple[DraftSentence, ...]:
    if not draft.units or draft.units[0].score < SURE_SCORE:
        return ()
    unit = draft.units[0]
    ordinal = passages[unit.passage].chunk.ordinal
    reading = segment_passage(passages[unit.passage])
    spans, starts = reading.sentences(reading.block(reading.block_of(unit.start)))
    after = bisect_left(starts, unit.end)
    if after >= len(spans) or unit.kind is not UnitKind.PROSE:
        return ()
    start, end = spans[after]
    if not excluded.isdisjoint({(ordinal, unit.start), (ordinal, start)}):
        return ()
    held = mask_of(reading.low[start:end], part.terms)
    if not has_negation(reading.text[start:end]) or not held & ~unit.mask or (is_of_the_same and not held & unit.mask):
        return ()
    text = format_unit(reading.text[unit.start : end])
    return (DraftSentence(place, unit.passage, unit.start, end, text, UnitKind.PROSE, unit.score),)


def defining_sentence(
    part: Subquery, place: int, passages: Sequence[Passage], draft: PartDraft, excluded: ExcludedSpans
) -> tuple[DraftSentence, ...]:
    """The first sentence that says what the term is: an entry of a glossary before any other."""
    term = _term_asked(part.text)
    if term is None:
        return ()
    defines = _definition_of(term, table_of(part.text))
    rank = {"entry": 0, "spelled": 0 if _STANDS_FOR.search(part.text) else 2}
    first_word = term.split("[", 1)[0].split("\\", 1)[0].removesuffix("s?").lower()
    found: list[tuple[int, int, Span]] = []
    for at, passage in enumerate(passages):
        reading = segment_passage(passage)
        if first_word not in reading.low:
            continue
        for block in range(len(reading.ends)):
            for span in reading.sentences(reading.block(block))[0]:
                match = defines.search(reading.text[slice(*span)])
                if match is None or (passage.chunk.ordinal, span[0]) in excluded or reading.kind(span) not in QUOTABLE:
                    continue
                if match.lastgroup is not None or match.start() < MAX_LEAD:
                    found.append((rank.get(match.lastgroup or "", 1), at, span))
    if not found:
        return ()
    _, at, span = min(found)
    score = draft.units[0].score if draft.units else 0.0
    kind = segment_passage(passages[at]).kind(span)
    text = passages[at].chunk.text[slice(*span)]
    return (DraftSentence(place, at, *span, format_unit(text), kind, score),)


def defines(text: str, question: str) -> bool:
    """True for a text that says what the term is which a question for a definition asks for; always true where the
    question names none, or asks how something is called.
    """
    term = _term_asked(question)
    return (
        term is None
        or _ASKS_NAME.search(question) is not None
        or _definition_of(term, table_of(question)).search(text) is not None
    )


def _definition_of(term: str, table: WordTable | None) -> re.Pattern[str]:
    """A pattern for an entry of a glossary, a sentence of what the term is, and one that spells it out; not for what
    is done with it: "MCAS is activated only during manual flight".
    """
    named = rf"(?:an? |the )?[*_\"“'‘]*{term}[*_\"”'’]*(?: ?\([^()]{{1,40}}\))?"
    if table is None or not table.defining:
        said = rf" (?:(?:is|are|was|were) {_NOT_DONE}|(?:means?|refers? to|denotes?|stands? for|describes?)\b)"
    else:
        said = table.defining if table.has_ideographs else f" {table.defining}"
    row = rf"^(?:\| )?{term} \||" if _CODE.fullmatch(term.removesuffix("s?").replace("\\", "")) else ""
    return re.compile(
        rf"^(?:[-*+•] +)?{named}(?P<entry>[.:][*_]* |[*_]* [–—-] |[*_]*:)|{row}"
        rf"(?:^|\b){named}{said}|"
        rf"(?P<spelled>{_spelled_out(term)})",
        re.IGNORECASE,
    )


def _term_asked(question: str) -> str | None:
    """A pattern for the term of a question for a definition."""
    table, words, rest = table_of(question), list[str](), ""
    if table is not None and table.definition is not None:
        defined = table.definition.pattern.match(question.strip())
        words = re.findall(r"[\w'’/&-]+", defined["term"]) if defined else []
    elif match := _DEFINED.match(question.strip()):
        words = re.findall(r"[\w'’/&-]+", match["a"] or match["b"])
        rest = question.strip()[match.end() :]
    if not words:
        return None
    if _CODE.fullmatch(words[-1]) and not re.search(r"\w", rest):
        words = words[-1:]
    return r"[\s-]+".join([*map(re.escape, words[:-1]), re.escape(words[-1].removesuffix("s")) + "s?"])


def _spelled_out(term: str) -> str:
    """A pattern for the words of an abbreviation before its letters: "Dynamic Resource Allocation (DRA)". It matches
    nothing for a term of other letters.
    """
    letters = term.removesuffix("s?")
    if not _ABBREVIATION.fullmatch(letters):
        return "(?!)"
    words = r"(?:[ -](?:of|and|for|the|in|on|to))*[ -]".join(rf"{one}[\w’']*" for one in letters)
    return rf"\b{words} ?\({letters}s?\)|\b{letters} ?\({words}\)"


def quote_row(one: RankedBlock, passages: Sequence[Passage], place: int, row: Span) -> DraftSentence:
    """A row of a table, its cells named by the columns."""
    text, lead = passages[one.passage].chunk.text, one.block.lead
    said = format_unit(text[slice(*row)], None if lead is None else text[slice(*lead)])
    return DraftSentence(place, one.passage, *row, said, UnitKind.TABLE_ROW, one.score)


def quote_block(one: RankedBlock, passages: Sequence[Passage], place: int) -> DraftSentence:
    """A block as one quote: its lead-in and items, its rows, or its paragraphs."""
    block, text = one.block, passages[one.passage].chunk.text
    start = block.start if block.lead is None else min(block.start, block.lead[0])
    if block.kind is TextBlockKind.TABLE:
        start = block.start
    said = format_block(text, block)
    return DraftSentence(place, one.passage, start, block.end, said, UnitKind.LIST, one.score)


def format_block(text: str, block: TextBlock) -> str:
    """The block in an answer: items and rows on lines of their own."""
    if block.kind is TextBlockKind.TABLE:
        header = None if block.lead is None else text[slice(*block.lead)]
        return "\n".join(f"- {format_row(text[slice(*row)], header)}" for row in block.parts)
    if block.kind is TextBlockKind.LIST:
        items = [_format_item(text[slice(*item)]) for item in block.parts]
        lead = [] if block.lead is None else [format_unit(text[slice(*block.lead)])]
        return "\n".join((*lead, *items))
    inner = {one.start: one for one in find_blocks(text) if one.kind is not TextBlockKind.SECTION}
    return "\n".join(
        format_block(text, inner[start]) if start in inner else format_unit(text[start:end])
        for start, end in block.parts
    )


def _format_item(item: str) -> str:
    mark = LIST_MARK.match(item)
    number = "" if mark is None else mark[0].strip()
    return f"{number if number[:1].isalnum() or number[:1] == '(' else '-'} {format_unit(item)}"


def _first_sentences(text: str, span: Span) -> Span:
    """The sentences of a span that fit into `LONGEST_ANSWER`, at most `MOST_ANSWERED`."""
    held = text[slice(*span)]
    end = 0
    for _, stop in sentence_spans(held, table_of(text))[:MOST_ANSWERED]:
        if end and stop > LONGEST_ANSWER:
            break
        end = stop
    return span[0], span[0] + end


def quote_span(one: RankedBlock, passages: Sequence[Passage], place: int, span: Span) -> DraftSentence:
    """A stretch of a block as running text."""
    return _sentence(one, passages, place, span, UnitKind.PROSE)


def _sentence(one: RankedBlock, passages: Sequence[Passage], place: int, span: Span, kind: UnitKind) -> DraftSentence:
    text = passages[one.passage].chunk.text[slice(*span)]
    return DraftSentence(place, one.passage, *span, format_unit(text), kind, one.score)


def is_excluded(one: RankedBlock, passages: Sequence[Passage], excluded: ExcludedSpans) -> bool:
    ordinal = passages[one.passage].chunk.ordinal
    return any(ordinal == known and one.block.start <= at < one.block.end for known, at in excluded)
