"""Whether statements name the tenant they concern, judged by their text alone."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

Statements = Mapping[str, str]
"""By module and constant."""

_NODE = r"\(\s*(?P<name>\w*)(?P<label>(?::\w+)*)\s*(?P<props>\{[^{}]*\})?\s*\)"
_ANY_NODE = re.sub(r"\?P<\w+>", "?:", _NODE)
_RELATION = r"<?-(?:\[(?:[^\[\]]|\[[^\[\]]*\])*\])?->?"
_PATH = re.compile(rf"(?P<verb>\b(?:MATCH|MERGE|CREATE)\s+)?(?P<path>{_ANY_NODE}(?:\s*{_RELATION}\s*{_ANY_NODE})*)")
_EACH_NODE = re.compile(_NODE)
_BINDS = re.compile(r"\bworkspaceId:\s*\$workspaceId\b")
_IS_WORKSPACE = re.compile(r"\bid:\s*\$workspaceId\b")
_CONDITION = re.compile(
    r"\s*WHERE\b(?P<condition>.*?)(?=\b(?:RETURN|WITH|MATCH|MERGE|SET|DELETE|DETACH|UNION)\b|\}|$)", re.DOTALL
)


def unbound_paths(cypher: str) -> list[str]:
    """Patterns of a Cypher text in which no node names the workspace: neither by a property, nor by the condition that
    follows, nor by a variable of a pattern before it that did. What is created must name it in every new node.
    """
    bound: set[str] = set()
    found: list[str] = []
    for match in _PATH.finditer(cypher):
        nodes = list(_EACH_NODE.finditer(match["path"]))
        verb = (match["verb"] or "").strip()
        if not verb and len(nodes) == 1 and not nodes[0]["label"]:
            continue
        condition = _CONDITION.match(cypher, match.end())
        named = [_names_workspace(node, bound, condition["condition"] if condition else "") for node in nodes]
        if all(named) if verb in ("CREATE", "MERGE") else any(named):
            bound |= {node["name"] for node in nodes if node["name"]}
        else:
            found.append(match["path"])
    return found


def _names_workspace(node: re.Match[str], bound: set[str], condition: str) -> bool:
    properties = node["props"] or ""
    if _BINDS.search(properties) or (node["label"] == ":RagWorkspace" and _IS_WORKSPACE.search(properties)):
        return True
    # A variable with a label is a new one, whatever went by that name in an earlier scope.
    if not node["label"] and node["name"] in bound:
        return True
    return bool(node["name"] and re.search(rf"\b{node['name']}\.workspaceId = \$workspaceId\b", condition))


_TABLE = re.compile(r"\b(?:FROM|JOIN|UPDATE|INTO|USING|ONLY)\s+(?P<table>rag_\w+)\b")
_TENANT = re.compile(
    r"\borg_id\s*(?:=|IN\b)"
    r"|=\s*\w+\.org_id\b"
    r"|\(\s*(?:\w+\.)?org_id\b[^()]*\)\s*(?:=|IN\b|VALUES|SELECT|FROM)"
    r"|\bUSING\s*\(\s*org_id\b"
)


def untenanted(sql: str, tables: frozenset[str]) -> list[str]:
    """The tables of tenants that a SQL text names in a query, or a query within it, which does not hold them to an
    organisation.
    """
    named = (match for match in _TABLE.finditer(sql) if match["table"] in tables)
    return [match["table"] for match in named if not _TENANT.search(_query_around(sql, match.start(), match.end()))]


def _query_around(sql: str, start: int, end: int) -> str:
    """The text between the brackets around a place."""
    return sql[_edge(sql, start, -1, ")", "(") : _edge(sql, end, 1, "(", ")")]


def _edge(sql: str, at: int, step: int, opens: str, closes: str) -> int:
    depth = 0
    while at - (step < 0) >= 0 and at < len(sql) + (step < 0):
        character = sql[at - (step < 0)]
        if character == closes:
            if depth == 0:
                break
            depth -= 1
        depth += character == opens
        at += step
    return at


_INNER = re.compile(r"\(([^()]*)\)")
_QUERY = re.compile(r"\b(?:SELECT|FROM|INSERT|UPDATE|DELETE)\b")
_SETS = re.compile(r"\b(?:UNION(?:\s+ALL)?|EXCEPT|INTERSECT)\b")
_NO_ALIAS = "ON USING WHERE SET JOIN LEFT CROSS FULL INNER ORDER GROUP LIMIT FOR SELECT VALUES RETURNING OFFSET HAVING"
_NAMED_TABLE = re.compile(
    r"(?:\b(?P<verb>FROM|JOIN|UPDATE|INTO|USING|ONLY)|,)\s+(?P<table>rag_\w+)\b"
    rf"(?:\s+(?:AS\s+)?(?!(?:{'|'.join(_NO_ALIAS.split())})\b)(?P<alias>[a-z]\w*))?"
)


def queries_of(sql: str) -> list[str]:
    """Each query of a statement by itself: what is in brackets within it stands apart, parts of a UNION too."""
    found: list[str] = []
    kept: dict[str, str] = {}

    def take(match: re.Match[str]) -> str:
        inner = match[1]
        if _QUERY.search(inner):
            found.append(inner)
            return " «» "
        mark = f"«{len(kept)}»"
        kept[mark] = f"({inner})"
        return mark

    def whole(text: str) -> str:
        while any(mark in text for mark in kept):
            for mark, inner in kept.items():
                text = text.replace(mark, inner)
        return text

    while _INNER.search(sql):
        sql = _INNER.sub(take, sql)
    return [part for text in (*found, sql) for part in _SETS.split(whole(text))]


def unjoined(sql: str, tables: frozenset[str], column: str = "org_id") -> list[str]:
    """The tables of a statement that a query reads or joins without holding this very table to the column: by a
    comparison of its own column, by USING, or, where the query has one table, by any comparison of the column.
    """
    found: list[str] = []
    for query in queries_of(sql):
        named = [match for match in _NAMED_TABLE.finditer(query) if match["table"] in tables]
        is_alone = sum(match["verb"] != "INTO" for match in named) == 1
        for place, match in enumerate(named):
            name = match["alias"] or match["table"]
            of_it = rf"\b{name}\.{column}\b"
            tied = (
                re.search(rf"{of_it}\s*(?:=|IN\b|,)|=\s*{of_it}", query)
                or re.match(rf"\s*(?:USING)?\s*\(\s*{column}\b", query[match.end() :])
                or (place == 0 and re.search(rf"\bUSING\s*\(\s*{column}\b", query))
                or (is_alone and match["verb"] != "INTO" and _TENANT.search(query[match.start() :]))
                or (match["verb"] == "INTO" and re.match(rf"\s*\([^)]*\b{column}\b", query[match.end() :]))
            )
            if not tied:
                found.append(match["table"])
    return found


def statements(package: ModuleType) -> Statements:
    """Every text that is a constant of a module of the package."""
    found: dict[str, str] = {}
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        constants = vars(importlib.import_module(module.name))
        for name, value in constants.items():
            for place, text in enumerate(_texts(value)):
                found[
                    f"{module.name.rpartition('.')[2]}.{name}" + (f"[{place}]" if isinstance(value, tuple) else "")
                ] = text
    return {name: text for name, text in found.items() if "__" not in name}


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple):
        yield from (one for one in value if isinstance(one, str))


def texts_within_functions(package: ModuleType, wanted: Callable[[str], object]) -> list[str]:
    """Texts written where they are used, which `statements` cannot see."""
    found: list[str] = []
    for path in sorted(path for folder in package.__path__ for path in Path(folder).rglob("*.py")):
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                documented = ast.get_docstring(function, clean=False)
                found += [
                    f"{path.stem}.{function.name}: {node.value}"
                    for node in ast.walk(function)
                    if isinstance(node, ast.Constant)
                    and isinstance(node.value, str)
                    and node.value != documented
                    and wanted(node.value)
                ]
    return found
