"""Signs that code grows stale: work left over, dependencies apart from each other, tests that failed. Nothing of it is
run: reports of tests and versions are read from files of the workspace.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from agentic_rag.language.programming import SOURCE_MEDIA_TYPE, is_program, symbols
from agentic_rag.operations.profiles.lists import word_lists
from agentic_rag.operations.profiles.pins import Pin, is_manifest, is_older, read_pins
from agentic_rag.operations.profiles.texts import Place, ReportedText

SHOWN = 50
"""Entries of each list that are told."""
LONGEST = 200
"""Characters of a mark's line that are told."""
_CASE = re.compile(r"<testcase\b([^>]{0,1000})>")
_FAULT = re.compile(r"<(?:failure|error)\b")
_ATTRIBUTE = re.compile(r"""\b(classname|name)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_JUNIT = re.compile(r"<testsuites?\b")
_NAMED = re.compile(
    r"(?<![\w@/.-])([A-Za-z@][\w.@/-]{0,99})(?:\s+(?:version|release)\s+|\s*==\s*|@|\s+)v?(\d{1,4}(?:\.\d{1,4}){1,3})(?!\w)"
)
"""A word and a version behind it."""


class DriftKind(Enum):
    """What is apart."""

    LOCK = "LOCK"
    """The lock holds a version that the manifest does not take: another than the only one, or an older one."""
    MANIFESTS = "MANIFESTS"
    """Two manifests want different versions, each the only one."""
    DOCUMENTATION = "DOCUMENTATION"
    """A document of the workspace speaks of a newer version."""


@dataclass(frozen=True, slots=True)
class LeftOver:
    """A mark of work that is left over; `symbol` is what the file defines last above it."""

    place: Place
    symbol: str | None


@dataclass(frozen=True, slots=True)
class Drift:
    """A package of which two files state versions that are apart."""

    kind: DriftKind
    package: str
    used: str
    used_at: Place
    stated: str
    stated_at: Place


@dataclass(frozen=True, slots=True)
class FailedTest:
    """A case that failed, or broke, in a report of tests."""

    name: str
    place: Place


@dataclass(frozen=True, slots=True)
class CodeFindings:
    """What the texts come to; lists hold at most `SHOWN`."""

    files: int
    """Files of programs."""
    lines: int
    """Their lines that are not blank."""
    marks: int
    density: float
    """Marks for each 1,000 of these lines."""
    left_over: tuple[LeftOver, ...]
    packages: int
    """That manifests or locks name."""
    drifts: int
    drift: tuple[Drift, ...]
    test_cases: int
    failures: int
    failed: tuple[FailedTest, ...]
    unread: tuple[str, ...]
    """Manifests and locks that are not what their names say."""


@dataclass(frozen=True, slots=True)
class _Statement:
    """A version of a package, the text that states it, and where; None: that is looked for when it is told."""

    pin: Pin
    text: ReportedText
    span: tuple[int, int] | None = None

    def place(self) -> Place:
        """Where it stands."""
        if self.span is not None:
            return self.text.place(*self.span)
        whole, name = self.text.text, re.escape(self.pin.package).replace("\\-", "[-_.]")
        named = re.search(rf"(?<![\w-]){name}(?![\w-])", whole, re.IGNORECASE)
        start = max(0, whole.find(self.pin.version, 0 if named is None else named.end()))
        return self.text.place(start, start + len(self.pin.version))


_Apart = tuple[DriftKind, _Statement, _Statement]
"""What is apart, the version in use, and the other."""


def report_code(texts: Sequence[ReportedText]) -> CodeFindings:
    """What texts say of the state of their code. The order of the texts decides nothing."""
    ordered = sorted(texts, key=lambda one: (one.source_path, one.document_id))
    programs = [one for one in ordered if _is_program(one)]
    lines = sum(sum(bool(line.strip()) for line in one.text.split("\n")) for one in programs)
    marks = [mark for one in programs for mark in _marks(one)]
    statements, unread = _statements(ordered)
    drift = [*_between_files(statements), *_against_documents(statements, ordered)]
    cases = [case for one in ordered for case in _cases(one)]
    failed = [(text, case) for text, case, has_failed in cases if has_failed]
    return CodeFindings(
        files=len(programs),
        lines=lines,
        marks=len(marks),
        density=1000 * len(marks) / lines if lines else 0.0,
        left_over=tuple(_show_mark(*one) for one in marks[:SHOWN]),
        packages=len({(one.pin.ecosystem, one.pin.package) for one in statements}),
        drifts=len(drift),
        drift=tuple(map(_drift, drift[:SHOWN])),
        test_cases=len(cases),
        failures=len(failed),
        failed=tuple(_show_failure(*one) for one in failed[:SHOWN]),
        unread=unread,
    )


def _is_program(text: ReportedText) -> bool:
    return text.media_type == SOURCE_MEDIA_TYPE and is_program(text.source_path)


def _marks(text: ReportedText) -> Iterator[tuple[ReportedText, int]]:
    words = "|".join(map(re.escape, word_lists()["left_over"]))
    return ((text, mark.start()) for mark in re.finditer(rf"(?<!\w)(?:{words})(?!\w)", text.text))


def _show_mark(text: ReportedText, start: int) -> LeftOver:
    line = text.text[start : start + LONGEST].partition("\n")[0]
    names = symbols(text.text[:start])
    return LeftOver(text.place(start, start + len(line)), names[-1][1] if names else None)


def _statements(texts: Sequence[ReportedText]) -> tuple[list[_Statement], tuple[str, ...]]:
    found: list[_Statement] = []
    unread: list[str] = []
    for text in texts:
        try:
            found += [_Statement(pin, text) for pin in read_pins(text.source_path, text.text)]
        except (ValueError, RecursionError):
            unread.append(text.source_path)
    return found, tuple(unread)


def _between_files(statements: Sequence[_Statement]) -> Iterator[_Apart]:
    by_package: dict[tuple[str, str], list[_Statement]] = {}
    for one in statements:
        by_package.setdefault((one.pin.ecosystem, one.pin.package), []).append(one)
    for _, own in sorted(by_package.items()):
        locked = [one for one in own if one.pin.is_locked]
        wanted = [one for one in own if not one.pin.is_locked]
        for want in wanted:
            if locked and not any(_takes(want.pin, one.pin.version) for one in locked):
                yield DriftKind.LOCK, locked[0], want
        exact = [one for one in wanted if one.pin.is_exact]
        for one in exact[1:]:
            if not _takes(exact[0].pin, one.pin.version):
                yield DriftKind.MANIFESTS, exact[0], one


def _takes(wanted: Pin, version: str) -> bool:
    is_apart = is_older(version, wanted.version) or (wanted.is_exact and is_older(wanted.version, version))
    return not is_apart


def _drift(apart: _Apart) -> Drift:
    kind, used, stated = apart
    return Drift(kind, used.pin.package, used.pin.version, used.place(), stated.pin.version, stated.place())


def _against_documents(statements: Sequence[_Statement], texts: Sequence[ReportedText]) -> Iterator[_Apart]:
    used: dict[str, _Statement] = {}
    for one in sorted(statements, key=lambda one: not one.pin.is_locked):
        used.setdefault(one.pin.package.lower(), one)
    for text in texts if used else ():
        if text.media_type == SOURCE_MEDIA_TYPE or is_manifest(text.source_path):
            continue
        told: set[tuple[str, str]] = set()
        for match in _NAMED.finditer(text.text):
            own, version = used.get(match[1].lower()), match[2]
            if own is not None and (match[1].lower(), version) not in told and is_older(own.pin.version, version):
                told.add((match[1].lower(), version))
                yield DriftKind.DOCUMENTATION, own, _Statement(replace(own.pin, version=version), text, match.span())


def _cases(text: ReportedText) -> Iterator[tuple[ReportedText, re.Match[str], bool]]:
    """The cases of a report in JUnit's form, by its marks alone, and whether each failed: no entity is resolved."""
    if _JUNIT.search(text.text) is None:
        return
    case = _CASE.search(text.text)
    while case is not None:
        following = _CASE.search(text.text, case.end())
        behind = len(text.text) if following is None else following.start()
        is_closed = case[1].endswith("/")
        yield text, case, not is_closed and _FAULT.search(text.text, case.end(), behind) is not None
        case = following


def _show_failure(text: ReportedText, case: re.Match[str]) -> FailedTest:
    attributes = {name: html.unescape(one or other) for name, one, other in _ATTRIBUTE.findall(case[1])}
    name = "::".join(part for key in ("classname", "name") if (part := attributes.get(key)))
    return FailedTest(name, text.place(*case.span()))
