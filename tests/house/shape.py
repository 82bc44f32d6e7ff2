"""Measures of a checkout's shape, read from its files alone."""

from __future__ import annotations

import ast
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

PACKAGES: Mapping[str, str] = {
    "core": "agentic_rag",
    "server": "agentic_rag_server",
    "worker": "agentic_rag_worker",
    "cli": "agentic_rag_cli",
    "eval": "agentic_rag_eval",
    "migrations": "agentic_rag_migrations",
}
"""The folders of the wheel, each with its import package."""

ROOMS = (
    "kernel",
    "language",
    "web",
    "tenancy",
    "models",
    "workspaces",
    "jobs",
    "documents",
    "retrieval",
    "answering",
    "erasure",
    "ingestion",
    "operations",
)
"""The rooms of core, from the lowest to the highest."""

BESIDE_ROOMS = ("adapters", "bootstrap", "settings", "embedded")
"""What stands in core beside the rooms."""

PARTICIPLES = frozenset(
    [
        "begun",
        "built",
        "chosen",
        "done",
        "drawn",
        "found",
        "given",
        "gone",
        "grown",
        "held",
        "hidden",
        "kept",
        "known",
        "left",
        "lost",
        "made",
        "meant",
        "met",
        "said",
        "seen",
        "sent",
        "shown",
        "spent",
        "stood",
        "taken",
        "told",
        "written",
    ]
)
"""Irregular participles; every other word that ends in -ed counts too."""

_BLOCKS = frozenset(["body", "handlers", "orelse", "finalbody", "cases"])

NO_PARTICIPLES = frozenset(["embed", "need", "feed", "seed", "exceed", "speed", "red", "bed"])


@dataclass(frozen=True)
class Source:
    """One product file; `module` is its dotted name."""

    path: Path
    module: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """The parsed file."""
        return ast.parse(self.text)

    @property
    def lines(self) -> int:
        """How many lines it has."""
        return self.text.count("\n")


def product_sources(root: Path) -> list[Source]:
    """Every Python file of the wheel's packages, in path order."""
    return [
        Source(path.relative_to(root), _module(path.relative_to(root / folder)), path.read_text(encoding="utf-8"))
        for folder, package in PACKAGES.items()
        for path in sorted((root / folder / package).rglob("*.py"))
    ]


def _module(path: Path) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def largest_folder(sources: Iterable[Source]) -> tuple[str, int]:
    """The folder that directly holds the most Python files, and how many."""
    ((folder, count),) = Counter(source.path.parent.as_posix() for source in sources).most_common(1)
    return folder, count


def outside_rooms(sources: Iterable[Source]) -> list[str]:
    """Core files that stand neither in a room nor beside the rooms; the package's own `__init__` may."""
    allowed = (*ROOMS, *BESIDE_ROOMS)
    base = Path("core") / PACKAGES["core"]
    return [
        source.path.as_posix()
        for source in sources
        if source.path.is_relative_to(base)
        and source.path != base / "__init__.py"
        and source.path.relative_to(base).parts[0] not in allowed
    ]


def long_files(sources: Iterable[Source], limit: int = 400) -> list[str]:
    """Files of more than `limit` lines."""
    return [f"{source.path}: {source.lines}" for source in sources if source.lines > limit]


def long_functions(sources: Iterable[Source], limit: int = 60) -> list[str]:
    """Functions of more than `limit` lines, decorators apart."""
    return [
        f"{source.path}:{node.lineno} {node.name}"
        for source in sources
        for node in _functions(source)
        if (node.end_lineno or node.lineno) - node.lineno + 1 > limit
    ]


def protocols(sources: Iterable[Source]) -> list[str]:
    """Classes that are declared as Protocols."""
    return [
        f"{source.path}:{node.lineno} {node.name}"
        for source in sources
        for node in _statements(source.tree)
        if isinstance(node, ast.ClassDef) and any(ast.unparse(base).split("[")[0] == "Protocol" for base in node.bases)
    ]


def settings(sources: Iterable[Source]) -> list[str]:
    """Environment variables that the settings read: the first argument of each `Env(...)`."""
    return [
        str(node.args[0].value)
        for source in sources
        if source.module.startswith("agentic_rag.settings")
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) == "Env"
        and node.args
        and isinstance(node.args[0], ast.Constant)
    ]


def participle_share(sources: Iterable[Source]) -> tuple[float, list[str]]:
    """The share of core's functions whose first or last word is a participle, in percent, and their names."""
    functions = [node.name for source in sources if source.path.parts[0] == "core" for node in _functions(source)]
    named = [name for name in functions if is_participle_name(name)]
    return 100 * len(named) / max(1, len(functions)), named


def is_participle_name(name: str) -> bool:
    """Whether the first or the last word of a function's name is a participle."""
    words = [word for word in name.strip("_").split("_") if word]
    return any(
        word in PARTICIPLES or (word.endswith("ed") and word not in NO_PARTICIPLES) for word in (words[:1] + words[-1:])
    )


def repeated_classes(sources: Iterable[Source]) -> list[str]:
    """Names of public classes that core defines more than once."""
    names = Counter(
        node.name
        for source in sources
        if source.path.parts[0] == "core"
        for node in source.tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    return sorted(name for name, count in names.items() if count > 1)


def import_cycles(sources: Iterable[Source]) -> list[list[str]]:
    """Groups of files that import one another, imports inside functions included, type-only imports left out."""
    known = {source.module: source for source in sources}
    graph = {name: {one for one in _imports(source.tree, known) if one != name} for name, source in known.items()}
    return _cycles(graph)


def _functions(source: Source) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in _statements(source.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def _statements(tree: ast.Module) -> Iterator[ast.AST]:
    """As `ast.walk`, without expressions: they are nine nodes of ten and hold no statement."""
    waiting: deque[ast.AST] = deque([tree])
    while waiting:
        node = waiting.popleft()
        yield node
        waiting.extend(_children(node))


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """What stands in the blocks of a statement, a handler or a case, and these themselves."""
    for name in node._fields:
        if name in _BLOCKS:
            yield from getattr(node, name)


def _imports(node: ast.AST, known: Mapping[str, Source]) -> Iterator[str]:
    for child in _children(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        if isinstance(child, ast.ImportFrom) and child.module:
            for alias in child.names:
                inner = f"{child.module}.{alias.name}"
                yield inner if inner in known else child.module
        elif isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        yield from _imports(child, known)


def _cycles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """Tarjan's strongly connected components of more than one node (SIAM J. Comput. 1, 1972), without recursion."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []
    for start in graph:
        work = [(start, iter(sorted(graph[start])))] if start not in index else []
        while work:
            node, rest = work[-1]
            if node not in index:
                index[node] = low[node] = len(index)
                stack.append(node)
            for other in rest:
                if other not in graph:
                    continue
                if other not in index:
                    work.append((other, iter(sorted(graph[other]))))
                    break
                if other in stack:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    component = stack[stack.index(node) :]
                    del stack[stack.index(node) :]
                    if len(component) > 1:
                        found.append(sorted(component))
    return found
