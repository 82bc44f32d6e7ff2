"""README and docs name only commands, options, settings, GraphQL names, files, links and make targets that exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest
import typer.main

from agentic_rag.settings import variables
from agentic_rag.settings.removed import REMOVED
from agentic_rag.settings.secret_files import file_names
from agentic_rag_cli.main import app

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PACKAGES = ("core", "server", "worker", "cli", "eval", "migrations", "tests", "scripts", "deploy")

INLINE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
FENCED = re.compile(r"^```[a-z]*\n(.*?)^```", re.M | re.S)
RAG = re.compile(r"(?:^|(?<=[\s(;&|=]))rag(?= [a-z-])([^#|;&`)]*)")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
SETTING = re.compile(r"AGENTIC_RAG_[A-Z0-9]+(?:_[A-Z0-9]+)*(?![A-Z0-9_*…<{])")
CAMEL = re.compile(r"\b[a-z]+(?:[A-Z][a-z0-9]+)+")
FILE = re.compile(r"[\w./-]+/[\w.-]+\.(?:py|sql|json|toml|graphql|yml)(?!\w)")
LINK = re.compile(r"\]\(([^)\s]+)\)")
MAKE = re.compile(r"(?:^|\s)make ([a-z][a-z-]*)")

EARLIER = {"configuration.md"}
"""Pages that name removed settings on purpose."""


def snippets(text: str) -> Iterator[str]:
    """Inline code, and each line of a fenced block without its prompt."""
    for block in FENCED.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            yield line.removeprefix("$ ").strip()
    yield from INLINE.findall(FENCED.sub("", text))


@cache
def root_command() -> click.Command:
    return typer.main.get_command(app)


def faults_of_command(words: str) -> list[str]:
    """What is wrong with the words behind `rag`: an unknown command or option."""
    found, path = root_command(), "rag"
    options = set(names_of(found))
    # An organisation may be named before the command.
    for word in re.sub(r"^\s*--tenant \S+", "", words).split():
        if word.startswith("-"):
            break
        commands: dict[str, click.Command] = getattr(found, "commands", {})
        if not commands:
            break
        if word not in commands:
            return [f"{path} {word}"] if re.fullmatch(r"[a-z][a-z-]*", word) else []
        found, path = commands[word], f"{path} {word}"
        options |= set(names_of(found))
    return [f"{path} {option}" for option in OPTION.findall(words) if option not in options]


def names_of(command: click.Command) -> Iterator[str]:
    yield "--help"
    for parameter in command.params:
        yield from (*parameter.opts, *parameter.secondary_opts)


@cache
def files() -> tuple[str, ...]:
    """The files of the checkout, without what is built or installed."""
    kept = [path for path in ROOT.iterdir() if path.name not in {".git", ".venv", "build", "node_modules"}]
    below = [file for path in kept if path.is_dir() for file in path.rglob("*") if "__pycache__" not in file.parts]
    return tuple(path.relative_to(ROOT).as_posix() for path in [*kept, *below] if path.is_file())


@cache
def sources() -> str:
    """Everything that could define a name."""
    names = [
        name for name in files() if name.startswith(PACKAGES) and name.endswith((".py", ".graphql", ".sql", ".json"))
    ]
    return "\n".join((ROOT / name).read_text("utf-8") for name in names if name != "tests/unit/test_docs.py")


def anchors_of(page: Path) -> set[str]:
    """The anchors that a viewer makes of the headings."""
    heads = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def faults_of(page: Path, text: str) -> list[str]:
    """Everything a page names that does not exist."""
    known = {variable.name for variable in variables()} | file_names(variables())
    faults: list[str] = []
    for snippet in snippets(text):
        for words in RAG.findall(snippet):
            faults += faults_of_command(words)
        faults += [name for name in CAMEL.findall(snippet) if name not in sources()]
        for name in FILE.findall(snippet):
            ending = name.rpartition("…/")[2].lstrip("./")
            is_made = ending.startswith("build/") or "NAME" in ending or "://" in snippet
            if not is_made and not any(f"/{file}".endswith(f"/{ending}") for file in files()):
                faults.append(name)
        faults += [f"make {target}" for target in MAKE.findall(snippet) if f"\n{target}:" not in makefile()]
    for name in SETTING.findall(text):
        is_removed = name in REMOVED and page.name in EARLIER
        if name not in known and not is_removed and not name.startswith("AGENTIC_RAG_TEST_"):
            faults.append(name)
    for link in LINK.findall(text):
        target, _, anchor = link.partition("#")
        to = (page.parent / target).resolve() if target else page
        if "://" in link:
            continue
        if not to.exists() or (anchor and to.suffix == ".md" and anchor not in anchors_of(to)):
            faults.append(link)
    return faults


@cache
def makefile() -> str:
    return "\n" + (ROOT / "Makefile").read_text("utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_names_only_what_exists(page: Path) -> None:
    assert faults_of(page, page.read_text("utf-8")) == []


@pytest.mark.parametrize(
    "planted",
    [
        "`rag doc reingest --all-broken`",
        "`rag frobnicate`",
        "`rag --tenant acme frobnicate`",
        "`rag --tenant acme verify --fully`",
        "AGENTIC_RAG_TOP_K",
        "`topKay` is a field of the input `answerTheQuestionNow`",
        "`retrieval/no_such_file.py`",
        "[a page](no-such-page.md)",
        "[a place](architecture.md#no-such-heading)",
        "`make everything-twice`",
    ],
)
def test_what_does_not_exist_is_found(planted: str) -> None:
    assert faults_of(ROOT / "docs" / "planted.md", planted) != []
