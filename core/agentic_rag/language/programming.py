"""Programming languages: by the name of a file; what a passage of source code defines; and its lines that set a value,
as files of settings have.
"""

from __future__ import annotations

import re
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
MAX_LINES_ABOVE = 200
"""How far up the names are sought that a setting stands under."""


def name_set(text: str, line: int) -> str | None:
    """The name that the line which begins at an offset gives a plain value; None where it gives none."""
    found = _SETTING.match(text, line)
    return None if found is None else found["name"]


def opens_settings(text: str, line: int) -> bool:
    """True where the line that begins at an offset is a name, or a section in brackets, that settings stand under."""
    return _OPENING.match(text, line) is not None or _SECTION.match(text, line) is not None


def names_above(text: str, at: int) -> tuple[str, ...]:
    """The names that the setting which holds an offset stands under, outermost first: those of the lines above that are
    further out, and of the section in brackets. None of a line that sets nothing.
    """
    line = text.rfind("\n", 0, at) + 1
    if name_set(text, line) is None:
        return ()
    found: list[str] = []
    depth = _depth(text, line)
    for _ in range(MAX_LINES_ABOVE):
        if not line or (not depth and text.rfind("\n[", 0, line) < 0 and text[0] != "["):
            break
        line = text.rfind("\n", 0, line - 1) + 1
        own = _depth(text, line)
        if (section := _SECTION.match(text, line)) is not None:
            found.append(section["name"].strip())
            break
        if own < depth and text[line + own] != "\n":
            opening = _OPENING.match(text, line)
            if opening is None:
                break
            found.append(opening["name"])
            depth = own
    return tuple(reversed(found))


def _depth(text: str, line: int) -> int:
    """How many blanks a line begins with."""
    at = line
    while text[at : at + 1] in (" ", "\t"):
        at += 1
    return at - line
