"""What a place in source code stands in: the innermost definition, told by keywords and indentation.

No grammar is read: code that is not indented as usual, and definitions without a keyword or a brace
(`const f = () =>`), have no symbol.
"""

from __future__ import annotations

import re
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
class Symbol:
    """A definition: its name with those around it ("Pump.start"), and its lines, from 1."""

    name: str
    line_start: int
    line_end: int


def symbol_at(file_name: str, text: str, at: int) -> Symbol | None:
    """The innermost definition of a file that holds an offset; None outside of all, and in what is no program."""
    language = language_of(file_name)
    if not is_program(file_name):
        return None
    line = text.count("\n", 0, at)
    lines = text.split("\n")
    patterns = (_BY_KEYWORD, _BY_BRACE) if language in _OF_BRACES else (_BY_KEYWORD,)
    starts = {
        found.start("name"): found["name"]
        for pattern in patterns
        for found in pattern.finditer(text)
        if found["name"] not in _NO_NAMES
    }
    around: list[tuple[str, int]] = []
    first = before = 0
    for start, name in sorted(starts.items()):
        first += text.count("\n", before, start)
        before = start
        if first > line:
            break
        indent = _indent(lines[first])
        while around and _indent(lines[around[-1][1]]) >= indent:
            around.pop()
        around.append((name, first))
    while around and _last_line(lines, around[-1][1]) < line:
        around.pop()
    if not around:
        return None
    innermost = around[-1][1]
    return Symbol(".".join(name for name, _ in around), innermost + 1, _last_line(lines, innermost) + 1)


def _last_line(lines: list[str], first: int) -> int:
    """The last line of the definition that begins in `first`: what follows is indented more, or closes it."""
    indent, last = _indent(lines[first]), first
    for number in range(first + 1, len(lines)):
        line = lines[number]
        if not line.strip():
            continue
        if _indent(line) <= indent and not (_indent(line) == indent and line.strip().startswith(_CLOSERS)):
            break
        last = number
    return last


def _indent(line: str) -> int:
    return len(line.expandtabs(TAB)) - len(line.expandtabs(TAB).lstrip())
