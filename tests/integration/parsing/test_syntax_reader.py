"""The child process that reads source code by its grammar: once started it is used again, and a bad file costs its
definitions alone.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from uuid import UUID

import pytest
from tests.integration.parsing.test_process_parser import children

from agentic_rag.adapters.parsing.process.syntax_reader import SYNTAX_LIMITS, SyntaxReader
from agentic_rag.erasure.process_memory import ProcessMemory
from agentic_rag.language.symbols import Definition
from agentic_rag.tenancy.principals import WorkspaceRef

CODE = 'def start():\n    return "é"\n'
FOUND = (Definition("start", 0, len(CODE) - 1),)
PATIENT = 60.0
"""Seconds: a busy machine starts a process late."""
HOSTILE = "{" * 600_000
"""Takes seconds and hundreds of megabytes in the grammars of most languages."""


@pytest.fixture
async def reader() -> AsyncIterator[SyntaxReader]:
    made = SyntaxReader(wait_seconds=PATIENT)
    yield made
    await made.aclose()


async def test_one_process_reads_file_after_file_and_ends_with_its_reader(reader: SyntaxReader) -> None:
    before = children()

    assert await asyncio.gather(*(reader("folder/pump.py", CODE) for _ in range(5))) == [FOUND] * 5
    assert len(children() - before) == 1
    await reader.end_children()
    assert children() == before
    assert await reader("pump.py", CODE) == FOUND


async def test_a_language_without_a_grammar_starts_no_process(reader: SyntaxReader) -> None:
    before = children()

    assert await reader("pump.lua", "function start() end") is None
    assert await reader("pump.md", CODE) is None
    assert children() == before


async def test_a_file_that_takes_too_much_costs_its_own_definitions_alone() -> None:
    reader = SyntaxReader(replace(SYNTAX_LIMITS, most_cpu_seconds=1.0), wait_seconds=PATIENT)
    try:
        assert await reader("pump.rb", HOSTILE) is None
        assert await reader("pump.py", CODE) == FOUND
    finally:
        await reader.aclose()


async def test_a_process_that_is_killed_is_replaced(reader: SyntaxReader) -> None:
    before = children()
    assert await reader("pump.py", CODE) == FOUND

    [child] = children() - before
    os.kill(child, signal.SIGKILL)

    assert await reader("pump.py", CODE) in (None, FOUND)
    assert await reader("pump.py", CODE) == FOUND


async def test_nobody_waits_longer_than_said_and_the_process_starts_all_the_same() -> None:
    is_read = asyncio.Event()
    opened: list[str] = []

    @contextmanager
    def reading() -> Iterator[None]:
        opened.append("opened")
        try:
            yield
        finally:
            opened.append("closed")
            is_read.set()

    reader = SyntaxReader(wait_seconds=0.0, reading=reading)
    before = children()
    try:
        assert await reader("pump.py", CODE) is None
        async with asyncio.timeout(PATIENT):
            await is_read.wait()
        # What waits for texts to be dropped waits for the reading that nobody waits for.
        assert opened == ["opened", "closed"]
        assert len(children() - before) == 1
    finally:
        await reader.aclose()
    assert children() == before


async def test_texts_that_are_dropped_for_good_are_in_no_process_that_read_them() -> None:
    memory = ProcessMemory()
    reader = SyntaxReader(reading=partial(memory.reading, None), wait_seconds=PATIENT)
    memory.is_ended_by(reader.end_children)
    before = children()
    try:
        assert await reader("pump.py", CODE) == FOUND
        assert len(children() - before) == 1

        await memory.drop_for_good(WorkspaceRef(UUID(int=1), UUID(int=2)))

        assert children() == before
        assert await reader("pump.py", CODE) == FOUND
    finally:
        await reader.aclose()
