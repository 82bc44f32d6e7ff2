"""The glossary holds: one term a row, each carried by a class that is defined once."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from tests.house import shape

ROOT = Path(__file__).resolve().parents[2]
MAX_TERMS = 40

CLASS = re.compile(r"^ *class (\w+)[(:\[]", re.MULTILINE)
ROW = re.compile(r"^\| (?P<term>[^|]+?) \| (?P<meaning>[^|]+?) \| `(?P<name>\w+)` \|$", re.MULTILINE)


def rows() -> list[re.Match[str]]:
    return list(ROW.finditer((ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")))


def test_it_is_short_and_names_no_term_and_no_class_twice() -> None:
    terms, names = [row["term"] for row in rows()], [row["name"] for row in rows()]

    assert 20 <= len(terms) <= MAX_TERMS
    assert (len(set(terms)), len(set(names))) == (len(terms), len(names))


def test_every_term_is_carried_by_a_class_that_is_defined_once() -> None:
    defined = Counter(
        name
        for source in shape.product_sources(ROOT)
        if source.path.parts[0] in ("core", "worker")
        for name in CLASS.findall(source.text)
    )

    assert {row["name"]: defined[row["name"]] for row in rows() if defined[row["name"]] != 1} == {}
