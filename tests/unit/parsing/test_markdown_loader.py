"""Markdown keeps its source and gives up its structure."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.adapters.parsing.file_types import SourceFile
from agentic_rag.adapters.parsing.loaders.markdown import load
from agentic_rag.adapters.parsing.process.limits import ParserLimits
from agentic_rag.adapters.parsing.text_builder import LoadedText
from agentic_rag.documents.document import BlockKind

SOURCE = """---
title: "The Guide"
---
# First

A paragraph
over two lines.

Setext
======

- one
- two

  goes on

* * *

| a | b |
|---|---|
| 1 | 2 |

```python
# no heading
```

    indented
"""


def read_markdown(text: str) -> LoadedText:
    return load(SourceFile(text.encode(), "a.md", ParserLimits()))


def blocks_of(source: str) -> list[tuple[BlockKind, str, int]]:
    reading = read_markdown(source)
    return [(block.kind, reading.text[block.start : block.end], block.level) for block in reading.blocks]


def test_blocks_are_recognised_and_the_source_is_the_text() -> None:
    assert read_markdown(SOURCE).text == SOURCE
    assert read_markdown(SOURCE).title == "The Guide"
    assert blocks_of(SOURCE) == [
        (BlockKind.FRONT_MATTER, '---\ntitle: "The Guide"\n---', 0),
        (BlockKind.HEADING, "# First", 1),
        (BlockKind.PARAGRAPH, "A paragraph\nover two lines.", 0),
        (BlockKind.HEADING, "Setext\n======", 1),
        (BlockKind.LIST_ITEM, "- one", 0),
        (BlockKind.LIST_ITEM, "- two\n\n  goes on", 0),
        (BlockKind.PARAGRAPH, "* * *", 0),
        (BlockKind.TABLE, "| a | b |\n|---|---|\n| 1 | 2 |", 0),
        (BlockKind.CODE, "```python\n# no heading\n```", 0),
        (BlockKind.CODE, "    indented", 0),
    ]


def test_the_first_heading_is_the_title_when_front_matter_names_none() -> None:
    assert read_markdown("---\ndate: today\n---\n\n## The Plan ##\ntext").title == "The Plan"
    assert read_markdown("just text").title is None


def test_front_matter_that_never_ends_is_text() -> None:
    assert blocks_of("---\ntitle: x\n\nmore")[-1] == (BlockKind.PARAGRAPH, "more", 0)


def test_an_open_fence_runs_to_the_end() -> None:
    assert blocks_of("~~~\ncode\n\n# still code") == [(BlockKind.CODE, "~~~\ncode\n\n# still code", 0)]


@given(st.lists(st.sampled_from([*"#-*|`~=+ \t\nab1.:", "<!--", "-->"])).map("".join))
def test_blocks_are_sorted_and_hold_all_text(source: str) -> None:
    reading = read_markdown(source)

    done = 0
    for block in reading.blocks:
        assert done <= block.start < block.end
        assert not reading.text[done : block.start].strip()
        done = block.end
    assert not reading.text[done:].strip()


@pytest.mark.parametrize(
    ("source", "blocks"),
    [
        ("One.\n<!-- two\n\nthree -->\nFour.", ["paragraph One.", "aside <!-- two\n\nthree -->", "paragraph Four."]),
        ("<!-- Fill in. --> No.\nMore.", ["aside <!-- Fill in. -->", "paragraph  No.\nMore."]),
        ("<!-- a --><!-->\nb", ["aside <!-- a -->", "aside <!-->", "paragraph b"]),
        ("<!-- never closed\n\nText.", ["paragraph <!-- never closed", "paragraph Text."]),
        ("```\n<!-- code -->\n```", ["code ```\n<!-- code -->\n```"]),
        ("Said <!-- within --> a line.", ["paragraph Said <!-- within --> a line."]),
    ],
)
def test_a_comment_is_an_aside_for_no_reader_of_the_page_sees_it(source: str, blocks: list[str]) -> None:
    assert [f"{kind.value} {text}" for kind, text, _ in blocks_of(source)] == blocks


def test_a_table_of_contents_is_no_content() -> None:
    body = "\n\n## Core problem\nText.\n\n## Goals\nText.\n\n- [Elsewhere](#goals)\n- Two"
    contents = "- [Core problem](#core-problem)\n  - [Goals](#goals)\n- [Left over](#left-over)"

    assert [kind for kind, _, _ in blocks_of(contents + body)][:3] == [BlockKind.RUNNING] * 3
    assert [kind for kind, _, _ in blocks_of(contents + body)][-2:] == [BlockKind.LIST_ITEM] * 2
    assert BlockKind.RUNNING not in {kind for kind, _, _ in blocks_of(contents + "\n\nNo heading of these.")}
    assert BlockKind.RUNNING not in {kind for kind, _, _ in blocks_of(contents.replace("](#", "](page#") + body)}
