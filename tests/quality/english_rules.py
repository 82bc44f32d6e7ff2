"""What rules that know English words alone add to answers in another language. It must be nothing.

Which rules these are is told by their words, not by the product: a pattern or a set of words of the product's modules
with words of the English folders of the natural questions, and without function words of other languages.
They are switched off where they lie: a pattern finds nothing, a set holds nothing. Each question is asked with them and
without, and the two answers are compared by outcome, text and quotes. Patterns made within functions, English stems in
the index and weights are not switched off.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import cast

from agentic_rag.answering.answer import Answer
from agentic_rag.answering.question import AnswerOptions, CacheMode, Question
from agentic_rag.language.words.word_tables import TABLES
from agentic_rag.settings import Settings
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_cli.in_process import System, operator_of
from tests.bench.reports import Row
from tests.quality.natural import CORPORA, HALVES, natural_questions, plain_text
from tests.quality.rows import at_most
from tests.quality.sets import XQUAD, ingested, ingested_folder, questions_of

ENGLISH_RULES = "english-rules"
IN_SHARED_TEXTS = {"de": "German", "es": "Spanish", "ru": "Russian", "zh": "Chinese", "ar": "Arabic"}
"""Languages of xquad, of which `SHARED_QUESTIONS` each are asked, evenly spread."""
SHARED_QUESTIONS = 40
HALVES_ASKED = (*HALVES["languages4"], "dev")
FOLDERS = {
    "german-bakery": "German",
    "french-coffee": "French",
    "japanese-packing": "Japanese",
    "spanish-irrigation": "Spanish",
    "german": "German",
    "spanish": "Spanish",
}
"""Folders of the natural questions in another language."""
WHERE = ("agentic_rag.answering.", "agentic_rag.language.", "agentic_rag.retrieval.")
OTHERS = {
    "agentic_rag.answering.extraction.typed_values": "reads values that the language's table has put into English",
    "agentic_rag.answering.messages": "has a row for each language",
    "agentic_rag.answering.verification.defang_links": "reads links",
    "agentic_rag.answering.extraction.text_blocks._ITEM": "has marks of lists, and how three languages number steps",
    "agentic_rag.answering.gate.captured": "has names of plans",
    "agentic_rag.answering.gate.counterfactual": "has names of plans",
    "agentic_rag.answering.runs.difference": "has names of stages",
    "agentic_rag.answering.tools": "reads addresses, and names of files",
    "agentic_rag.language.programming": "reads source code",
    "agentic_rag.language.symbols": "reads source code",
    "agentic_rag.language.sentences._IN_ALL_LANGUAGES": "has abbreviations of all languages",
    "agentic_rag.language.sentences._BEFORE_FIGURES": "has abbreviations of all languages",
    "agentic_rag.language.sentences._COMPANIES": "has abbreviations of all languages",
    "agentic_rag.language.words": "has the tables of the other languages",
}
"""Modules, and names in them, whose words are not English alone, and why."""
_GROUPS = re.compile(r"\(\?(?:P<\w+>|[a-z-]+[:)]|P=\w+\)|<?[=!:])")
_CLASSES = re.compile(r"\[(?:\\.|[^\]\\])*\]|\\.")
_WORD = re.compile(r"[^\W\d_]{3,}")
_NOTHING = re.compile(r"(?!)")
_FUNCTION_WORDS = frozenset[str]().union(*(table.function_words for table in TABLES))
MOST_FOREIGN = 0.1
"""Of the words of a pattern or set, those that are of another language and stand in no English text: an ending or an
abbreviation may be spelled as one.
"""

Found = Mapping[int, object]
"""What stands in the place of each value that is switched off, by the identity of that value."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of another language over texts of that language."""

    language: str
    question: str
    workspace: WorkspaceRef


@dataclass(frozen=True, slots=True)
class Compared:
    """Whether the answer to a question is another one without the rules of English, and the modules that change it."""

    asked: Asked
    is_changed: bool
    by: tuple[str, ...] = ()


async def english_rule_rows(system: System, settings: Settings) -> list[Row]:
    """Every question with and without the rules of English, by language."""
    asked = await _questions(system, settings)
    told = [await _answer(system, one) for one in asked]
    families = english_words()
    with switched_off({key: off for family in families.values() for key, off in family.items()}):
        without = [await _answer(system, one) for one in asked]
    changed = [place for place, (one, other) in enumerate(zip(told, without, strict=True)) if one != other]
    by: dict[int, list[str]] = {place: [] for place in changed}
    for name, family in families.items() if changed else ():
        with switched_off(family):
            for place in changed:
                if await _answer(system, asked[place]) != told[place]:
                    by[place].append(name)
    compared = [Compared(one, place in by, tuple(by.get(place, ()))) for place, one in enumerate(asked)]
    for one in compared:
        if one.is_changed:
            print(
                f"    {one.asked.language}: {one.asked.question} — {', '.join(one.by) or 'several together'}",
                flush=True,
            )
    return rows_of(compared)


def rows_of(compared: Sequence[Compared]) -> list[Row]:
    """By language, the share of answers that rules of English alone change."""
    return [
        at_most(
            f"questions in {language}: answered otherwise by rules of English alone",
            [float(one.is_changed) for one in compared if one.asked.language == language],
            0,
        )
        for language in sorted({one.asked.language for one in compared})
    ]


async def _questions(system: System, settings: Settings) -> list[Asked]:
    asked: list[Asked] = []
    every = [one for half in HALVES_ASKED for one in natural_questions(half) if one.corpus in FOLDERS]
    folders = {
        corpus: await ingested_folder(system, settings, f"natural-{corpus}", CORPORA / corpus)
        for corpus in dict.fromkeys(one.corpus for one in every)
    }
    asked += [Asked(FOLDERS[one.corpus], one.question, folders[one.corpus]) for one in every]
    for code, language in IN_SHARED_TEXTS.items():
        workspace = await ingested(system, f"{XQUAD}-{code}", [f"{XQUAD}-{code}"])
        questions = questions_of(f"{XQUAD}-{code}")
        chosen = questions[:: max(1, len(questions) // SHARED_QUESTIONS)][:SHARED_QUESTIONS]
        asked += [Asked(language, one.question, workspace) for one in chosen]
    return asked


async def _answer(system: System, one: Asked) -> object:
    asked = Question(one.workspace, one.question, options=AnswerOptions(cache=CacheMode.BYPASS))
    run = await system.container.answer.ask(operator_of(one.workspace.org_id), asked)
    return shown(run.answer)


def shown(answer: Answer) -> object:
    """What of an answer a user sees: outcome, text and quotes."""
    return answer.outcome, answer.text, tuple((one.source_path, one.snippet) for one in answer.citations)


@contextmanager
def switched_off(words: Found) -> Iterator[None]:
    """The product without these patterns and sets, wherever a module has them; what was kept in memory is dropped."""
    undo: list[tuple[ModuleType, str, object]] = []
    try:
        for module in _modules("agentic_rag."):
            for name, value in list(vars(module).items()):
                if id(value) in words:
                    undo.append((module, name, value))
                    setattr(module, name, words[id(value)])
        _forget()
        yield
    finally:
        for module, name, value in undo:
            setattr(module, name, value)
        _forget()


def english_words() -> Mapping[str, Found]:
    """By module, its patterns and sets of English words, by identity, with what stands in their place without them. A
    value belongs to the module that comes first.
    """
    families: dict[str, Found] = {}
    taken: set[int] = set()
    for module in _modules(*WHERE):
        found = {
            id(value): _off(value)
            for name, value in vars(module).items()
            if id(value) not in taken
            and not f"{module.__name__}.{name}".startswith(tuple(OTHERS))
            and _is_english(value)
        }
        taken |= found.keys()
        if found:
            families[module.__name__.removeprefix("agentic_rag.")] = found
    return families


def _modules(*prefixes: str) -> list[ModuleType]:
    return [sys.modules[name] for name in sorted(sys.modules) if name.startswith(prefixes)]


def _forget() -> None:
    for module in _modules("agentic_rag."):
        for value in vars(module).values():
            forget = getattr(value, "cache_clear", None)
            if callable(forget) and not isinstance(value, type):
                cast(Callable[[], None], forget)()


def _is_english(value: object) -> bool:
    words = frozenset(_words_in(value))
    english, foreign = _told_apart()
    return len(words & foreign) <= MOST_FOREIGN * len(words) and bool(words & english)


def _words_in(value: object) -> Iterator[str]:
    if isinstance(value, re.Pattern):
        text = cast("re.Pattern[str] | re.Pattern[bytes]", value).pattern
        if isinstance(text, str):
            yield from _WORD.findall(_CLASSES.sub(" ", _GROUPS.sub("(", text)).lower())
    elif isinstance(value, frozenset):
        for one in cast("frozenset[object]", value):
            if isinstance(one, str):
                yield from _WORD.findall(one)
    elif isinstance(value, tuple | dict):
        held = cast("tuple[object, ...] | dict[object, object]", value)
        for one in held.values() if isinstance(held, dict) else held:
            yield from _words_in(one)


def _off(value: object) -> object:
    if isinstance(value, re.Pattern):
        return _NOTHING
    if isinstance(value, frozenset):
        return frozenset[object]()
    if isinstance(value, tuple):
        return tuple(map(_off, cast("tuple[object, ...]", value)))
    if isinstance(value, dict):
        return {key: _off(one) for key, one in cast("dict[object, object]", value).items()}
    return value


@cache
def _told_apart() -> tuple[frozenset[str], frozenset[str]]:
    """The words that are English alone, and those that are of other languages alone."""
    english, others = vocabularies()
    return english - others, (_FUNCTION_WORDS | others) - english


@cache
def vocabularies() -> tuple[frozenset[str], frozenset[str]]:
    """The words of the English folders and questions, and of those in other languages."""
    english: set[str] = set()
    others: set[str] = set()
    for folder in CORPORA.iterdir():
        words = others if folder.name in FOLDERS else english
        for path in folder.rglob("*"):
            if path.is_file():
                words.update(_WORD.findall(plain_text(path).lower()))
    for half in ("dev", "held", "own", *HALVES["languages4"]):
        for one in natural_questions(half):
            words = others if one.corpus in FOLDERS else english
            words.update(_WORD.findall(one.question.lower()))
    return frozenset(english), frozenset(others)
