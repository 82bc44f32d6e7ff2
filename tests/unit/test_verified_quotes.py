"""`verified` is said of quotes and citations, never of an answer or its sentences: what stands in a document may still
not be the answer.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from tests.house import shape

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    ROOT / "pyproject.toml",
    ROOT / "server" / "agentic_rag_server" / "graphql" / "schema.graphql",
    *sorted((ROOT / "docs").rglob("*.md")),
]
SAID = r"(?:verif(?:y|ies|ied)|prove[sn]?|proofs?)"
SPOKEN_OF = r"(?:answers?|sentences?)"
OF_ANSWERS = re.compile(rf"\b{SPOKEN_OF}\b[^.;|]*?\b{SAID}\b", re.IGNORECASE)
DIRECTLY = re.compile(rf"\b{SAID} (?:an? |the |of |each |every )*{SPOKEN_OF}\b", re.IGNORECASE)
SUBJECT, VERB = re.compile(SPOKEN_OF, re.IGNORECASE), re.compile(SAID, re.IGNORECASE)
OF_QUOTES = re.compile(r"quot|\bcit(?:e|ation)|span|snippet", re.IGNORECASE)
BEFORE, AFTER = 30, 20
"""Characters around a stretch in which a quote may be named."""


def claims(text: str) -> list[str]:
    """The stretches that call an answer verified or proven."""
    folded = " ".join(text.split())
    found = [
        match[0]
        for match in OF_ANSWERS.finditer(folded)
        if not OF_QUOTES.search(folded[max(0, match.start() - BEFORE) : match.end() + AFTER])
    ]
    return found + [match[0] for match in DIRECTLY.finditer(folded)]


@pytest.mark.parametrize(
    ("text", "is_claim"),
    [
        ("A verified answer.", True),
        ("Every sentence of an answer is verified.", True),
        ("It proves every sentence with a citation.", True),
        ("Each sentence has a citation whose quote is verified.", False),
        ("The quote behind every sentence is verified.", False),
        ("Every quote is verified. An answer may still be wrong.", False),
    ],
)
def test_a_claim_is_told_from_what_may_be_said(text: str, is_claim: bool) -> None:
    assert bool(claims(text)) is is_claim


def test_no_page_calls_an_answer_verified() -> None:
    found = {path.relative_to(ROOT).as_posix(): claims(path.read_text("utf-8")) for path in PAGES}
    assert {path: told for path, told in found.items() if told} == {}


@pytest.mark.slow
def test_no_text_of_the_product_calls_an_answer_verified() -> None:
    # Without both words a file holds no claim; to parse all of them takes long.
    likely = [one for one in shape.product_sources(ROOT) if all(word.search(one.text) for word in (SUBJECT, VERB))]
    found = {
        f"{source.path}:{node.lineno}": told
        for source in likely
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and (told := claims(node.value))
    }
    assert found == {}
