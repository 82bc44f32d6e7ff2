"""Programming languages: by the name of a file; what a passage of source code defines; and its lines that set a value,
as files of settings have.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath

SOURCE_MEDIA_TYPE = "text/x-source"
"""The media type of every file of source code."""

LANGUAGE_BY_EXTENSION = {
    extension: language
    for language, extensions in {
        "python": "py pyi", "javascript": "js mjs cjs jsx", "typescript": "ts mts cts tsx", "java": "java",
        "kotlin": "kt kts", "scala": "scala sc", "go": "go", "rust": "rs", "c": "c h", "cpp": "cc cpp cxx hh hpp hxx",
        "csharp": "cs", "swift": "swift", "ruby": "rb rake", "php": "php", "perl": "pl pm", "lua": "lua", "r": "r",
        "julia": "jl", "haskell": "hs", "elixir": "ex exs", "erlang": "erl hrl", "clojure": "clj cljs", "dart": "dart",
        "shell": "sh bash zsh fish", "powershell": "ps1 psm1", "sql": "sql", "graphql": "graphql gql", "proto": "proto",
        "terraform": "tf hcl", "css": "css scss less", "vue": "vue", "svelte": "svelte",
        "yaml": "yaml yml", "toml": "toml", "json": "json jsonl ndjson", "xml": "xml xsd",
        "ini": "ini cfg conf properties", "makefile": "mk", "groovy": "groovy gradle",
        "zig": "zig", "nix": "nix", "ocaml": "ml mli", "fsharp": "fs fsx", "objective-c": "m mm", "assembly": "asm s",
    }.items()
    for extension in extensions.split()
}  # fmt: skip
"""Programming language by file extension."""

LANGUAGE_BY_NAME = {
    "makefile": "makefile",
    "dockerfile": "dockerfile",
    "jenkinsfile": "groovy",
}
"""Programming language by whole file name, in lower case."""

WITH_GRAMMAR = frozenset(
    {"python", "javascript", "typescript", "go", "java", "rust", "c", "cpp", "csharp", "ruby", "php"}
)
"""Languages whose definitions are told by a grammar."""

NO_PROGRAMS = frozenset({"json", "xml", "yaml", "toml", "ini", "css"})
"""Of the languages of `LANGUAGE_BY_EXTENSION`, those of data and looks."""

_DEFINED = re.compile(
    r"^[ \t]*(?:(?:export|default|pub(?:\([a-z]+\))?|public|private|protected|static|abstract|final|async|unsafe)\s+)*"
    r"(?:def|class|function|func|fn|interface|struct|enum|trait|impl|type|module|namespace|object|record|protocol|sub"
    r"|defmodule|message|service|create\s+(?:table|view|function|index))\s+(?:\([^)\n]*\)\s*)?([^\W\d][\w.]*)",
    re.MULTILINE | re.IGNORECASE,
)


def language_of(file_name: str) -> str | None:
    """The programming language of a file, by its name."""
    path = PurePath(file_name)
    return LANGUAGE_BY_EXTENSION.get(path.suffix.lower().removeprefix(".")) or LANGUAGE_BY_NAME.get(path.name.lower())


def is_program(file_name: str) -> bool:
    """True for the name of a file that holds source code, and not data or looks."""
    return language_of(file_name) not in (None, *NO_PROGRAMS)


def first_symbol(text: str) -> str | None:
    """The name that a passage of source code defines first; None where it defines nothing."""
    found = _DEFINED.search(text)
    return None if found is None else found.group(1)


def symbols(text: str) -> list[tuple[int, str]]:
    """The names that source code defines, with where their definitions start, in order."""
    return [(found.start(), found.group(1)) for found in _DEFINED.finditer(text)]


_SETTING = re.compile(
    r"[ \t]*(?:- )?(?:(?:export|const|let|var|final|static) )?(?P<mark>[\"']?)(?P<name>[^\W\d][\w.-]*)(?P=mark)"
    r"(?::[ \t]+[^\s|>]|[ \t]*=[ \t]*(?:[\"'\[{]|[-+]?\d|(?:true|false|null|none|yes|no|on|off)\b"
    r"|[\w./:@-]+[ \t]*(?:[;#\n]|\Z)))",
    re.IGNORECASE,
)
"""A name with a plain value: `image: valkey:9`, `LIMIT = 8`, `"port": 80,`, `export HOME=/srv`; no call and no sum."""
_OPENING = re.compile(r"[ \t]*(?:- )?[\"']?(?P<name>[^\W\d][\w.-]*)[\"']?:[ \t]*[{\[]?[ \t]*(?=\n|\Z)")
"""A name whose settings stand below it, further in."""
_SECTION = re.compile(r"\[{1,2}(?P<name>[^\[\]\n]+)\]{1,2}[ \t]*(?=\n|\Z)")
_NAMING = re.compile(
    r"[ \t]*(?:- )?[\"']?(?P<key>name|id|title|host|hostname)[\"']?[ \t]*[:=][ \t]*(?P<value>[^\n#]*[^\s#,])",
    re.IGNORECASE,
)
"""A setting that tells what those beside it are of."""
_ENDS_DOCUMENT = "---"
"""Between two documents of one YAML file."""
MAX_LINES_ABOVE = 200
"""How far up the names are sought that a setting stands under."""


def name_set(text: str, at: int) -> str | None:
    """The name that the line which holds an offset gives a plain value; None where it gives none."""
    found = _SETTING.match(text, text.rfind("\n", 0, at) + 1)
    return None if found is None else found["name"]


def opens_settings(text: str, line: int) -> bool:
    """True where the line that begins at an offset is a name, or a section in brackets, that settings stand under."""
    return _OPENING.match(text, line) is not None or _SECTION.match(text, line) is not None


def names_above(text: str, at: int) -> tuple[str, ...]:
    """The names that the setting which holds an offset stands under, outermost first: those of the lines above that are
    further out, of the section in brackets, and on each level what names its settings (`name: web`, also that of
    `metadata`). None of a line that sets nothing.
    """
    line: int | None = text.rfind("\n", 0, at) + 1
    if name_set(text, line) is None:
        return ()
    found: list[str] = []
    while line is not None:
        found += _names_beside(text, line)
        line, opening = _opening_above(text, line)
        found += opening
    return tuple(reversed(found))


def _opening_above(text: str, line: int) -> tuple[int | None, list[str]]:
    """The next line above that is further out, where it is a name that settings stand under, with this name; of a
    section the name alone.
    """
    depth = _depth(text, line)
    for above in _lines_above(text, line):
        if (section := _SECTION.match(text, above)) is not None:
            return None, [section["name"].strip()]
        if _depth(text, above) < depth and not _is_blank(text, above):
            opening = _OPENING.match(text, above)
            if opening is not None:
                return above, [opening["name"]]
            defined = _DEFINED.match(text, above)
            return None, [] if defined is None else [defined[1]]
    return None, []


def _names_beside(text: str, line: int) -> list[str]:
    """What names the settings of the level on which a line stands: the nearest such line above, else below it."""
    if _NAMING.match(text, line) is not None:
        return []
    depth = _depth(text, line)
    if not _is_item(text, line):
        for above in _lines_above(text, line):
            own = _depth(text, above)
            if own < depth or _SECTION.match(text, above) or (not depth and _is_blank(text, above)):
                break
            if own == depth and (name := _name_of_level(text, above)):
                return [name]
            if own == depth and _is_item(text, above):
                return []
    below = text.find("\n", line) + 1
    while below and _depth(text, below) >= depth and name_set(text, below) and not _is_item(text, below):
        if _depth(text, below) == depth and (name := _name_of_level(text, below)):
            return [name]
        below = text.find("\n", below) + 1
    return []


def _name_of_level(text: str, line: int) -> str:
    """The value of a line that names the settings beside it, or stands for such a line: `metadata:` above `name: web`;
    else empty.
    """
    opening = _OPENING.match(text, line)
    if opening is not None and opening["name"] == "metadata":
        line = text.find("\n", line) + 1
    named = _NAMING.match(text, line)
    return "" if named is None else named["value"].strip("\"' ,")


def _lines_above(text: str, line: int) -> Iterator[int]:
    """Where the lines above one begin, the nearest first, within one document."""
    for _ in range(MAX_LINES_ABOVE):
        if not line:
            return
        line = text.rfind("\n", 0, line - 1) + 1
        if text.startswith(_ENDS_DOCUMENT, line):
            return
        yield line


def _is_blank(text: str, line: int) -> bool:
    return not text[line : text.find("\n", line) + 1 or len(text)].strip()


def _is_item(text: str, line: int) -> bool:
    """True for the first line of an entry of a list."""
    depth = _depth(text, line)
    return depth > 1 and text.startswith("- ", line + depth - 2)


def _depth(text: str, line: int) -> int:
    """How many characters stand before the name that a line begins with: blanks, and the mark of an entry."""
    at = line
    while text[at : at + 1] in (" ", "\t"):
        at += 1
    return at + 2 - line if text.startswith("- ", at) else at - line
