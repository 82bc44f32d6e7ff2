"""Programming languages: by the name of a file, and what a passage of source code defines."""

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
