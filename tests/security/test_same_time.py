"""The judge of times tells a delay from none, and ends."""

from __future__ import annotations

import asyncio

import pytest

from tests.security import table  # noqa: F401 - modules of rows are imported by it first
from tests.security.rows.same_time import ROUNDS, SMALLEST_CHANCE, are_told_apart, chance_of

PAIRS = 12


@pytest.mark.parametrize(("slow", "is_told"), [({True}, True), ({False}, True), ({True, False}, False)])
async def test_a_delay_of_one_of_the_two_is_told_in_a_bounded_number_of_tries(slow: set[bool], is_told: bool) -> None:
    asked: list[bool] = []

    async def ask(is_hidden: bool) -> None:
        asked.append(is_hidden)
        # Of two that are alike every other pair is slower on one side.
        is_slower = is_hidden in slow and (is_told or len(asked) % 4 < 2)
        await asyncio.sleep(0.004 if is_slower else 0)

    assert await are_told_apart(ask, PAIRS) is is_told
    assert len(asked) == 2 * PAIRS * (ROUNDS if is_told else 1)


@pytest.mark.parametrize(("slower", "is_rare"), [(6, False), (10, False), (11, True), (1, True), (2, False)])
def test_the_chance_of_signs_is_that_of_a_coin(slower: int, is_rare: bool) -> None:
    assert (chance_of(slower, 12) < SMALLEST_CHANCE) is is_rare
