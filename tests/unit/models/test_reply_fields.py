"""Fields of a model's reply are what the schema says, and nothing that merely counts as it."""

from __future__ import annotations

import pytest

from agentic_rag.models.chat.reply_fields import number_in, numbers_in
from agentic_rag.models.chat.request import ReplyInvalid


@pytest.mark.parametrize("value", [True, False, 1.0, "1", None])
def test_only_a_whole_number_is_a_number(value: object) -> None:
    with pytest.raises(ReplyInvalid):
        number_in({"quote": value}, "quote")
    with pytest.raises(ReplyInvalid):
        numbers_in({"quotes": [2, value]}, "quotes")


def test_whole_numbers_are_read() -> None:
    assert number_in({"quote": 3}, "quote") == 3
    assert numbers_in({"quotes": [1, 2]}, "quotes") == (1, 2)
