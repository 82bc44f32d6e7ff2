"""The versions of packages that the manifests and locks of a repository state."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import cast

_REQUIREMENT = re.compile(
    r"^[ \t]*([A-Za-z0-9][\w.-]{0,99})[ \t]*(?:\[[^\]\n]{0,200}\])?[ \t]*(===?|>=|~=)[ \t]*v?(\d[\w.]*)", re.MULTILINE
)
"""A requirement of PEP 508 with a lowest or an only version."""
_RANGE = re.compile(r"\s*(\^|~|>=|==|=)?\s*v?(\d[\w.]*)")
"""A requirement of npm or Cargo, its first bound."""
_GO = re.compile(r"^(?:require)?[ \t]*(\S{1,300})[ \t]+v(\d[\w.]*)", re.MULTILINE)
_NUMBERS = re.compile(r"\d+")
_PYTHON, _NODE, _RUST, _GOLANG = "python", "node", "rust", "go"


@dataclass(frozen=True, slots=True)
class Pin:
    """What a file says of a package's version."""

    ecosystem: str
    package: str
    """As its ecosystem compares names."""
    version: str
    is_exact: bool
    """Whether no other version will do."""
    is_locked: bool
    """Whether a lock file says so."""


def release(version: str) -> tuple[int, ...]:
    """The numbers of a release: `2.31.0rc1` is (2, 31, 0)."""
    numbers: list[int] = []
    for part in version.split("."):
        found = _NUMBERS.match(part)
        if found is None:
            break
        numbers.append(int(found[0][:9]))
    return tuple(numbers)


def is_older(version: str, other: str) -> bool:
    """Whether a version is older than another, by the numbers that both state: `2` is not older than `2.31`."""
    one, two = release(version), release(other)
    shared = min(len(one), len(two))
    return one[:shared] < two[:shared]


def is_manifest(source_path: str) -> bool:
    """Whether `read_pins` knows the file by its name."""
    return _reader_of(source_path) is not None


def read_pins(source_path: str, text: str) -> list[Pin]:
    """What a manifest or lock states. Errors: `ValueError` for a file that is not what its name says."""
    reader = _reader_of(source_path)
    return [] if reader is None else [one for one in reader(text) if release(one.version)]


def _reader_of(source_path: str) -> Callable[[str], Iterator[Pin]] | None:
    name = PurePosixPath(source_path).name.lower()
    if name.endswith((".txt", ".in")) and name.startswith(("requirements", "constraints")):
        return _requirements
    return {
        "pyproject.toml": _pyproject, "package.json": _package_json, "package-lock.json": _package_lock,
        "cargo.toml": _cargo, "go.mod": _go_mod, "poetry.lock": _python_lock, "uv.lock": _python_lock,
        "pdm.lock": _python_lock, "cargo.lock": _cargo_lock,
    }.get(name)  # fmt: skip


def _python_name(name: str) -> str:
    """As PEP 503 compares names."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _requirements(text: str) -> Iterator[Pin]:
    for name, operator, version in _REQUIREMENT.findall(text):
        yield Pin(_PYTHON, _python_name(name), version, operator.startswith("=="), is_locked=False)


def _pyproject(text: str) -> Iterator[Pin]:
    read = tomllib.loads(text)
    project = _table(read.get("project"))
    stated = [*_list(project.get("dependencies"))]
    for group in (_table(project.get("optional-dependencies")), _table(read.get("dependency-groups"))):
        stated += [one for entries in group.values() for one in _list(entries)]
    yield from _requirements("\n".join(one for one in stated if isinstance(one, str)))
    poetry = _table(_table(_table(read.get("tool")).get("poetry")).get("dependencies"))
    yield from _ranges(_PYTHON, {name: one for name, one in poetry.items() if name != "python"})


def _package_json(text: str) -> Iterator[Pin]:
    read = _table(json.loads(text))
    for group in ("dependencies", "devDependencies"):
        yield from _ranges(_NODE, _table(read.get(group)))


def _package_lock(text: str) -> Iterator[Pin]:
    for path, entry in _table(_table(json.loads(text)).get("packages")).items():
        version = _table(entry).get("version")
        if path.startswith("node_modules/") and "/node_modules/" not in path and isinstance(version, str):
            yield Pin(_NODE, path.removeprefix("node_modules/"), version, is_exact=True, is_locked=True)


def _cargo(text: str) -> Iterator[Pin]:
    read = tomllib.loads(text)
    for group in ("dependencies", "dev-dependencies"):
        yield from _ranges(_RUST, _table(read.get(group)))


def _python_lock(text: str) -> Iterator[Pin]:
    yield from _packages(_PYTHON, text)


def _cargo_lock(text: str) -> Iterator[Pin]:
    yield from _packages(_RUST, text)


def _packages(ecosystem: str, text: str) -> Iterator[Pin]:
    for entry in _list(tomllib.loads(text).get("package")):
        name, version = _table(entry).get("name"), _table(entry).get("version")
        if isinstance(name, str) and isinstance(version, str):
            known = _python_name(name) if ecosystem == _PYTHON else name
            yield Pin(ecosystem, known, version, is_exact=True, is_locked=True)


def _go_mod(text: str) -> Iterator[Pin]:
    for name, version in _GO.findall(text):
        yield Pin(_GOLANG, name, version, is_exact=False, is_locked=False)


def _ranges(ecosystem: str, stated: Mapping[str, object]) -> Iterator[Pin]:
    for name, wanted in stated.items():
        bound = _table(wanted).get("version", wanted)
        found = _RANGE.match(bound) if isinstance(bound, str) else None
        if found is not None:
            is_exact = found[1] in ("=", "==") or (found[1] is None and ecosystem == _NODE)
            known = _python_name(name) if ecosystem == _PYTHON else name
            yield Pin(ecosystem, known, found[2], is_exact, is_locked=False)


def _table(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else {}


def _list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []
