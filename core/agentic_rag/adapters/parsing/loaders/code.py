"""Source code: the source is the text; blocks are top-level definitions where these can be told, else blank-line
groups.
"""

from __future__ import annotations

import ast
import json
import re
from itertools import pairwise
from typing import cast

from agentic_rag.adapters.parsing.file_types import SourceFile, extension_of
from agentic_rag.adapters.parsing.text_builder import LoadedText, lines_of, paragraphs_of
from agentic_rag.documents.document import Block, BlockKind
from agentic_rag.language.programming import language_of

_DEFINITION = re.compile(
    r"^(?:export\s+|default\s+|pub(?:\([a-z]+\))?\s+|public\s+|private\s+|protected\s+|static\s+|abstract\s+|final\s+|async\s+"
    r"|unsafe\s+|extern\s+|template\s*<[^>\n]*>\s*)*"
    r"(?:def|class|function|func|fn|interface|struct|enum|trait|impl|type|module|namespace|object|record|protocol|extension"
    r"|sub|proc|defmodule|resource|message|service|create\s+(?:table|view|function|index))\b",
    re.MULTILINE | re.IGNORECASE,
)
_ESCAPED = re.compile(r"\\\\|(?P<run>(?:\\u[0-9a-fA-F]{4})+)")
"""An escaped backslash, after which no escape begins, or escapes of letters (RFC 8259, section 7)."""
_MARKS_OF_JSON = frozenset('"\\')
"""Signs that would end a string or begin an escape. Others of ASCII are escaped by programs that write for web pages
(`R\\u0026D`).
"""
_OF_RECORDS = ("jsonl", "ndjson")
_LONGEST_CLASS = 2500
"""Code points. A longer Python class is parted into its methods; about 600 tokens, one chunk."""


SAMPLE = b"warm = 1"


def load(source: SourceFile) -> LoadedText:
    """Blocks of source code. Python that does not compile is read like any other language, and JSON with its letters
    instead of their escapes; a record of JSON Lines is a block.
    """
    text, language = source.text, language_of(source.name)
    if language == "json":
        text = _ESCAPED.sub(_letters, text)
        if extension_of(source.name) in _OF_RECORDS:
            records = [Block(BlockKind.CODE, start, end) for start, end in lines_of(text) if text[start:end].strip()]
            return LoadedText(text, tuple(records), language=language)
    starts = _python_starts(text) if language == "python" else None
    if starts is None:
        starts = [match.start() for match in _DEFINITION.finditer(text)]
    edges = sorted({0, len(text), *(_with_comments(text, start) for start in starts)})
    blocks = [
        Block(BlockKind.CODE, start, end)
        for first, last in pairwise(edges)
        for start, end in _parts(text, first, last, bool(starts))
    ]
    return LoadedText(text, tuple(blocks), language=language)


def _letters(escaped: re.Match[str]) -> str:
    """What a run of JSON's escapes stands for; the run itself where that is no plain sign."""
    if escaped["run"] is None:
        return escaped[0]
    letters = cast(str, json.loads(f'"{escaped[0]}"'))
    return letters if letters.isprintable() and _MARKS_OF_JSON.isdisjoint(letters) else escaped[0]


def _parts(text: str, start: int, end: int, whole: bool) -> list[tuple[int, int]]:
    parts = list(paragraphs_of(text, start, end))
    return [(parts[0][0], parts[-1][1])] if whole and parts else parts


def _with_comments(text: str, start: int) -> int:
    """Moves a definition's start up over the comments and decorators right above it."""
    while start > 0:
        above = text.rfind("\n", 0, start - 1) + 1
        if not text[above : start - 1].lstrip().startswith(("#", "//", "/*", "*", "@", "--", ";", "'''", '"""')):
            break
        start = above
    return start


def _python_starts(text: str) -> list[int] | None:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    line_starts = [0]
    for line in text.splitlines(keepends=True) if "\f" not in text else text.split("\n"):
        line_starts.append(line_starts[-1] + len(line) + (0 if line.endswith(("\n", "\r")) else 1))
    starts: list[int] = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            starts.append(line_starts[node.lineno - 1])
            end = line_starts[min(node.end_lineno or node.lineno, len(line_starts) - 1)]
            if isinstance(node, ast.ClassDef) and end - starts[-1] > _LONGEST_CLASS:
                starts += (
                    line_starts[inner.lineno - 1]
                    for inner in node.body
                    if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
                )
    return starts
