"""Asks the cells of tables through the whole pipeline in memory, and judges answers from outside."""

from __future__ import annotations

import asyncio
import enum
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from posixpath import splitext
from uuid import UUID

from agentic_rag.adapters.parsing.text_builder import LoadedText
from agentic_rag.answering.answer import Answer, Outcome
from agentic_rag.answering.question import AnswerOptions, CacheMode
from agentic_rag.documents.chunking import chunk_document
from agentic_rag.documents.document import Chunk, ParsedDocument, document_id_for
from agentic_rag.kernel.errors import ParseFailed
from agentic_rag.language.token_estimate import estimate_tokens
from agentic_rag.workspaces.chunk_profiles import DEFAULT_PROFILE
from tests.documents.reading import Read
from tests.documents.tables.made_tables import TableQuestion
from tests.unit.answering.answering_world import World
from tests.unit.answering.corpus import WORKSPACE, Corpus

_NUMBER = re.compile(r"\d[\d,.]*\d|\d")
_WORD = re.compile(r"\w+")
_ROW = re.compile(r"\|.*\d.*$|\d.*\|.*$|\S\s(?:[$€£]\s?)?[(-]?\d(?:[\d,.]*\d)?(?:\)|\s?%)*$")
"""A quote whose last line is a row with figures: cells between bars, or a label with a figure at the end."""
_SAID_APART = re.compile(r"[;\n]|(?<=[^\d\s])\. ")
"""Between the cells of a row that an answer lists, and between its sentences."""


class Verdict(enum.Enum):
    """What an answer is worth to the person who asked for a cell."""

    RIGHT = "right"
    UNNAMED = "the right row, but not what its column means"
    OTHER_ROW = "cited to another row"
    ELSEWHERE = "answered by other text"
    NONE = "not answered"


@dataclass(frozen=True, slots=True)
class AskedTable:
    """A question with its answer and what that is worth."""

    question: TableQuestion
    answer: Answer
    verdict: Verdict


class ReadCorpus(Corpus):
    """Documents as the product reads and cuts them."""

    def add_files(self, files: Iterable[tuple[str, bytes]], read: Read) -> None:
        """Read files by name; one that cannot be read adds nothing."""
        for path, content in files:
            found = read(content, path)
            if not isinstance(found, ParseFailed):
                self._add_read(path, found)
        self.version += 1

    def _add_read(self, path: str, found: LoadedText) -> None:
        document_id = document_id_for(WORKSPACE, path)
        revision_id = UUID(bytes=sha256(path.encode()).digest()[:16])
        title = found.title or splitext(path)[0]
        parsed = ParsedDocument(found.text, found.blocks, found.pages, title, "text/plain", "p", "1")
        self.revisions[revision_id] = (found.text, [page.start for page in found.pages] or [0])
        for made in chunk_document(document_id, parsed, DEFAULT_PROFILE, estimate_tokens):
            self.chunks.append(
                Chunk(
                    len(self.chunks), made.chunk_id, document_id, revision_id, made.index, made.text, made.start,
                    made.end, made.page, made.line_start, made.line_end, made.heading_path, title, path, None,
                    "text/plain",
                )
            )  # fmt: skip


def ask_tables(files: Iterable[tuple[str, bytes]], questions: Sequence[TableQuestion], read: Read) -> list[AskedTable]:
    """Each question of all files together."""
    corpus = ReadCorpus()
    corpus.add_files(files, read)
    return asyncio.run(_ask(World(corpus), questions))


async def _ask(world: World, questions: Sequence[TableQuestion]) -> list[AskedTable]:
    asked: list[AskedTable] = []
    for one in questions:
        answer = (await world.ask(one.question, options=AnswerOptions(cache=CacheMode.BYPASS))).answer
        asked.append(AskedTable(one, answer, judge_cell(one, answer)))
    await world.recorder.aclose()
    return asked


def judge_cell(asked: TableQuestion, answer: Answer) -> Verdict:
    """RIGHT when the first row quoted holds the row's label with the cell, the quotes hold what the column is called,
    and the answer says the figure with the name of its column or alone.
    """
    quotes = [one.snippet for one in answer.citations if one.answer_spans]
    if answer.outcome is Outcome.ABSTAINED or not quotes:
        return Verdict.NONE
    rows = [quote for quote in quotes if _ROW.search(quote)]
    if not rows:
        return Verdict.ELSEWHERE
    labels = filter(None, (asked.row, asked.other_row))
    if not any(_holds(rows[0], label) for label in labels) or _number(asked.value) not in _numbers(rows[0]):
        return Verdict.OTHER_ROW
    names = " ".join(asked.columns)
    stated = [said for said in _SAID_APART.split(answer.text) if _number(asked.value) in _numbers(said)]
    alone = not ({*_numbers(rows[0])} - {_number(asked.value)}) & {*_numbers(answer.text)}
    named = any(alone or _holds(said, names) for said in stated)
    return Verdict.RIGHT if named and _holds("\n".join(quotes), names) else Verdict.UNNAMED


def _holds(text: str, words: str) -> bool:
    return {*_WORD.findall(words.casefold())} <= {*_WORD.findall(text.casefold())}


def _numbers(text: str) -> list[str]:
    return [_number(found) for found in _NUMBER.findall(text)]


def _number(text: str) -> str:
    """A figure without its separators, sign and unit."""
    return "".join(_NUMBER.findall(text)[:1]).replace(",", "")
