"""Hostile files of our own making: each ends as its table says, in time, and the parser goes on."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from tests.hostile import Hostile, hostile_files

from agentic_rag.adapters.parsing.process.parser import ProcessParser
from agentic_rag.kernel.errors import ParseFailed

WITHIN_SECONDS = 20.0


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def parser() -> AsyncIterator[ProcessParser]:
    made = ProcessParser(children=2)
    yield made
    await made.aclose()


def test_there_are_sixty_of_them_and_no_name_is_used_twice() -> None:
    names = [one.name for one in hostile_files()]

    assert len(names) >= 60
    assert len({*names}) == len(names)
    assert all(len(name.encode()) <= 255 for name in names)


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.timeout(120)
@pytest.mark.parametrize("hostile", hostile_files(), ids=lambda one: one.name[-40:])
async def test_it_ends_as_expected_in_time_and_the_next_file_is_read(parser: ProcessParser, hostile: Hostile) -> None:
    content = hostile.build()
    began = time.monotonic()
    text = code = None

    try:
        text = (await parser.parse(content, hostile.name, None)).text
    except ParseFailed as failure:
        code = failure.code
    took = time.monotonic() - began

    assert hostile.ended_well(text, code), (code, (text or "")[:200])
    assert took < WITHIN_SECONDS
    assert (await parser.parse(b"next", "next.txt", None)).text == "next"
