"""What readers do not see is counted, whatever text stands around it."""

from __future__ import annotations

import sys

import pytest

from agentic_rag.language.hidden_characters import HIDDEN, count_hidden_characters, strip_hidden_characters


@pytest.mark.slow
def test_every_hidden_character_is_counted() -> None:
    # Sixteen at a time, a letter between them: one by one takes seconds.
    blocks = ["a".join(map(chr, range(code, code + 16))) for code in range(0, sys.maxunicode + 1, 16)]

    assert [ascii(block) for block in blocks if count_hidden_characters(block) != len(HIDDEN.findall(block))] == []


@pytest.mark.parametrize("around", ["plain words\n", "Straße\tnach Görlitz\r\n", "日本語", "👍 emoji"])
def test_a_hidden_character_is_found_among_others(around: str) -> None:
    tag, soft_hyphen = "\U000e0041", "\u00ad"

    assert count_hidden_characters(around) == 0
    assert count_hidden_characters(f"{around}{tag}{around}{soft_hyphen}") == 2
    assert strip_hidden_characters(f"{around}{tag}{around}") == around * 2
