"""What a place in source code stands in: the innermost definition.

What a file defines is told by the grammar of its language (`ReadDefinitions`) or, where there is none, by keywords and
indentation: then code that is not indented as usual, and definitions without a keyword or a brace (`const f = () =>`),
have no symbol.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from agentic_rag.language.programming import is_program, language_of

TAB = 8
_MODIFIERS = (
    r"(?:(?:export|default|pub(?:\([a-z]+\))?|public|private|protected|internal|static|abstract|final|sealed|open"
    r"|override|async|unsafe|inline|virtual|const)\s+)*"
)
_BY_KEYWORD = re.compile(
    rf"^[ \t]*{_MODIFIERS}"
    r"(?:(?i:create\s+(?:or\s+replace\s+)?(?:table|view|function|index))"
    r"|def|class|function|func|fun|fn|interface|struct|enum|trait|impl|type|module|namespace|object|record|protocol|sub"
    r"|defmodule|message|service)\s+(?:\([^)\n]*\)\s*)?(?P<name>[^\W\d][\w.]*)"
    # What goes on in words is a sentence.
    r"(?=\s*(?:[\[(<:{=;,|]|->|$|(?:extends|implements|for|where|with|as|AS|on|ON|returns|do|struct|interface)\b))",
    re.MULTILINE,
)
_BY_BRACE = re.compile(
    r"^[ \t]*(?:[\w<>\[\],.:&*?@~]+[ \t]+){0,6}[*&]*(?P<name>[^\W\d]\w*)[ \t]*\([^;{}()]{0,500}\)[^;{}()=]{0,200}\{",
    re.MULTILINE,
)
"""Functions and methods of the languages that have no keyword for them."""
_NO_NAMES = frozenset({"if", "for", "while", "switch", "catch", "return", "else", "do", "with", "using", "lock", "try"})
_OF_BRACES = frozenset(
    {"c", "cpp", "java", "csharp", "javascript", "typescript", "dart", "php", "groovy", "objective-c"}
)
_CLOSERS = (")", "]", "}", "{", "end")


@dataclass(frozen=True, slots=True)
class Definition:
    """What source code defines: its own name, and the code points that it covers."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Symbol:
    """A definition: its name with those around it ("Pump.start"), and its lines, from 1."""

    name: str
    line_start: int
    line_end: int


ReadDefinitions = Callable[[str, str], Awaitable[Sequence[Definition] | None]]
"""What a file (its name and its text) defines, by the grammar of its language; None where none is known, or the file
could not be read by it.
"""


def symbol_at(text: str, definitions: Sequence[Definition], at: int) -> Symbol | None:
    """The innermost of a text's definitions that holds an offset; None outside of all."""
    around = sorted((one for one in definitions if one.start <= at < one.end), key=lambda one: (one.start, -one.end))
    if not around:
        return None
    innermost = around[-1]
    first = text.count("\n", 0, innermost.start)
    return Symbol(
        ".".join(one.name for one in around), first + 1, first + 1 + text.count("\n", innermost.start, innermost.end)
    )


def definitions_by_keyword(file_name: str, text: str) -> list[Definition]:
    """What a file defines, by whole lines, in order; nothing for what is no program."""
    if not is_program(file_name):
        return []
    patterns = (_BY_KEYWORD, _BY_BRACE) if language_of(file_name) in _OF_BRACES else (_BY_KEYWORD,)
    names = {
        found.start("name"): found["name"]
        for pattern in patterns
        for found in pattern.finditer(text)
        if found["name"] not in _NO_NAMES
    }
    by_line: dict[int, list[str]] = {}
    line = before = 0
    for start, name in sorted(names.items()):
        line += text.count("\n", before, start)
        before = start
        by_line.setdefault(line, []).append(name)
    return _with_ends(text, by_line)


def _with_ends(text: str, by_line: dict[int, list[str]]) -> list[Definition]:
    """A definition ends before the first line that is indented no more than its own and does not close it."""
    found: list[Definition] = []
    around: list[tuple[int, str, int]] = []
    at = last = 0

    def close(indent: int, *, is_closer: bool) -> None:
        while around and (indent < around[-1][0] or (indent == around[-1][0] and not is_closer)):
            _, name, start = around.pop()
            found.append(Definition(name, start, max(start, last)))

    for number, line in enumerate(text.split("\n")):
        if line.strip():
            indent = _indent(line)
            close(indent, is_closer=number not in by_line and line.strip().startswith(_CLOSERS))
            for name in by_line.get(number, ()):
                close(indent, is_closer=False)
                around.append((indent, name, at))
            last = at + len(line)
        at += len(line) + 1
    close(-1, is_closer=False)
    return sorted(found, key=lambda one: one.start)


def _indent(line: str) -> int:
    return len(line.expandtabs(TAB)) - len(line.expandtabs(TAB).lstrip())
