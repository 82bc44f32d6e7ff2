"""Makes questions from the passages of a corpus by rule, each with and without the document that answers it.

A question asks for a span of a sentence (a date, a figure, a name): the span is masked, the asking word goes by its
type, and what stands around it is asked in as many words as people use. Users do not know the wording of a source, so
some words are left out or replaced, and names are shortened; how much differs by question, so that a set holds easy and
hard ones. The constants are set so that the supports of made questions lie as those of people's (eval/quality_log.md).
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from agentic_rag.answering.extraction.typed_values import TypedValue, ValueKind, find_values
from agentic_rag.language.english import FUNCTION_WORDS
from agentic_rag.language.sentences import sentence_spans
from agentic_rag.language.words.word_tables import table_of
from agentic_rag_eval.records import EvalQuestion

KNOWN_ITEM, REMOVED_GOLD = "known-item", "removed-gold"
"""The types of questions: with their source document, and without it."""

EASIER = 4.0
"""People's questions are harder than made ones: on musique, whose people ask over several passages, a line drawn at
half of the error abstains on 10 of 40, one drawn at a third on 2 (eval/quality_log.md).
"""

LENGTHS = (3, 3, 4, 4, 5, 5, 6, 6, 7, 8, 10)
"""Content words beside the document's title, each number as likely: about those of 2,200 questions that people asked of
eight corpora.
"""
REPLACED = (0.0, 0.4)
"""Bounds on the share of words that are left out, or replaced by words of another passage, drawn by question."""
SHORTENED = 0.25
"""How often a name of several words is asked for by its last one, or by its initials."""
TITLE_WORDS = 4
LEAST_WORDS, MOST_WORDS = 6, 60
"""Content words of a sentence that a question is made from."""

_WORD = re.compile(r"[^\W_][\w’'.&/-]*[^\W_]|[^\W_]")
_PLACE_BEFORE = re.compile(r"\b(?:in|at|near|from|to)(?: the)? $", re.IGNORECASE)
_BEFORE_SPAN = re.compile(
    r"(?:^|\s)(?:in|on|at|by|of|to|for|from|since|until|about|around|the|a|an)\s*$", re.IGNORECASE
)
_ASIDE = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_NO_SUBJECT = re.compile(r"^\S*\d\S*$|^\S+\.\w{2,5}$|\d{4,}$")
"""Titles that are an id or the name of a file."""
_ASKING: Mapping[str, tuple[str, str, str, str, str, str]] = {
    "en": ("When", "How many", "How much", "Where", "Who", "What"),
    "de": ("Wann", "Wie viele", "Wie viel", "Wo", "Wer", "Was"),
    "es": ("¿Cuándo", "¿Cuántos", "¿Cuánto", "¿Dónde", "¿Quién", "¿Qué"),
    "fr": ("Quand", "Combien de", "Combien", "Où", "Qui", "Quoi"),
    "it": ("Quando", "Quanti", "Quanto", "Dove", "Chi", "Che cosa"),
    "pt": ("Quando", "Quantos", "Quanto", "Onde", "Quem", "O que"),
    "nl": ("Wanneer", "Hoeveel", "Hoeveel", "Waar", "Wie", "Wat"),
    "pl": ("Kiedy", "Ile", "Ile", "Gdzie", "Kto", "Co"),
    "ru": ("Когда", "Сколько", "Сколько", "Где", "Кто", "Что"),
    "ar": ("متى", "كم", "كم", "أين", "من", "ما"),
    "ja": ("いつ", "いくつ", "いくら", "どこ", "誰", "何"),
    "zh": ("什么时候", "多少", "多少", "哪里", "谁", "什么"),
}
"""For a time, a number, an amount, a place, a person and anything else; English in a language without a table."""


@dataclass(frozen=True, slots=True)
class SourcePassage:
    """A passage to make questions from."""

    document_id: str
    text: str
    title: str = ""


def own_questions(passages: Sequence[SourcePassage], wanted: int, seed: int = 1) -> list[EvalQuestion]:
    """At most `wanted` known-item questions, each from another passage, and as many asked without their document. Equal
    passages, number and seed give equal questions.
    """
    chance = random.Random(seed)
    order = list(passages)
    chance.shuffle(order)
    known: list[EvalQuestion] = []
    for place, passage in enumerate(order):
        if len(known) >= wanted:
            break
        text = _make_question(passage, order[place - 1], chance)
        if text is not None:
            name = f"{KNOWN_ITEM}-{len(known) + 1:04d}"
            known.append(EvalQuestion(name, text, (), (passage.document_id,), KNOWN_ITEM))
    return [*known, *(_remove_gold(one) for one in known)]


def _make_question(passage: SourcePassage, elsewhere: SourcePassage, chance: random.Random) -> str | None:
    """A question that the passage answers; None for one with nothing to ask for."""
    stop = _function_words(passage.text)
    spans = sentence_spans(passage.text)
    sentences = [" ".join(_ASIDE.sub("", passage.text[start:end]).split()) for start, end in spans]
    fit = [one for one in sentences if LEAST_WORDS <= len(_content(one, stop)) <= MOST_WORDS]
    if not fit:
        return None
    sentence = chance.choice([one for one in fit if find_values(one)] or fit)
    values = find_values(sentence)
    masked = chance.choice(values) if values else None
    start, end = (masked.start, masked.end) if masked else (len(sentence), len(sentence))
    words = _window(_BEFORE_SPAN.sub(" ", sentence[:start]), sentence[end:], chance.choice(LENGTHS), stop)
    words += _subject(passage.title, [*words, *_WORD.findall(sentence[start:end])], stop)
    asked = _replace_words(_shorten_names(words, chance), elsewhere, stop, chance)
    if not _content(" ".join(asked), stop):
        return None
    return f"{_asking_word(masked, sentence)} {' '.join(asked)}?"


def _window(left: str, right: str, wanted: int, stop: frozenset[str]) -> list[str]:
    """The words nearest to the masked span, with `wanted` content words among them; those before it first."""
    before, after = _WORD.findall(left), _WORD.findall(right)
    chosen: list[str] = []
    count = 0
    while before and count < wanted:
        chosen.insert(0, before.pop())
        count += chosen[0].lower() not in stop
    for word in after:
        if count >= wanted:
            break
        chosen.append(word)
        count += word.lower() not in stop
    return chosen


def _subject(title: str, said: Sequence[str], stop: frozenset[str]) -> list[str]:
    """Words of the document's title that are not said yet: whoever asks names what he asks about."""
    if _NO_SUBJECT.search(title):
        return []
    known = {one.lower() for one in said}
    return [one for one in _content(title, stop) if one.lower() not in known][:TITLE_WORDS]


def _shorten_names(words: Sequence[str], chance: random.Random) -> list[str]:
    """Runs of capitalised words by their last one; of three and more by their initials as often."""
    kept: list[str] = []
    run: list[str] = []
    for word in [*words, ""]:
        if word[:1].isupper():
            run.append(word)
            continue
        if len(run) > 1 and chance.random() < SHORTENED:
            run = ["".join(one[0] for one in run)] if len(run) > 2 and chance.random() < 0.5 else run[-1:]
        kept += run
        run = []
        kept += [word] if word else []
    return kept


def _replace_words(
    words: Sequence[str], elsewhere: SourcePassage, stop: frozenset[str], chance: random.Random
) -> list[str]:
    """The words with a share of those that are neither names nor function words left out or replaced."""
    other = [one for one in _WORD.findall(elsewhere.text) if one.islower() and one not in stop]
    share = chance.uniform(*REPLACED)
    kept: list[str] = []
    for word in words:
        if word.lower() in stop or word[0].isupper() or chance.random() >= share:
            kept.append(word)
        elif other and chance.random() < 0.5:
            kept.append(chance.choice(other))
    return kept


def _asking_word(masked: TypedValue | None, sentence: str) -> str:
    table = table_of(sentence)
    when, number, amount, where, who, what = _ASKING.get("en" if table is None else table.code, _ASKING["en"])
    if masked is None:
        return what
    if masked.kind in (ValueKind.DATE, ValueKind.TIME):
        return when
    if masked.kind is ValueKind.FIGURE:
        return number if str(masked.parts[0]).startswith("noun") else amount
    if _PLACE_BEFORE.search(sentence[: masked.start]):
        return where
    return who if 2 <= len(masked.parts) <= 3 else what


def _function_words(text: str) -> frozenset[str]:
    table = table_of(text)
    return FUNCTION_WORDS if table is None else table.function_words


def _content(text: str, stop: frozenset[str]) -> list[str]:
    return [one for one in _WORD.findall(text) if one.lower() not in stop]


def _remove_gold(known: EvalQuestion) -> EvalQuestion:
    name = known.question_id.replace(KNOWN_ITEM, REMOVED_GOLD)
    return EvalQuestion(name, known.question, (), (), REMOVED_GOLD, without=known.gold_ids)


def as_lines(questions: Iterable[EvalQuestion]) -> str:
    """The questions in the form that `dataset.load_dataset` reads."""
    rows = (
        {
            "id": one.question_id,
            "question": one.question,
            "answers": list(one.answers),
            "gold_ids": list(one.gold_ids),
            "type": one.kind,
            **({"without": list(one.without)} if one.without else {}),
        }
        for one in questions
    )
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
