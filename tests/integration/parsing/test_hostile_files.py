"""Real and hostile files out of the shared test data, each with the outcome that its manifest wants."""

from __future__ import annotations

import csv
import json
import os
import re
import unicodedata
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pypdf
import pytest
from tests.chaos.rows.files import FILLED

from agentic_rag.adapters.parsing.process.parser import ProcessParser
from agentic_rag.kernel.errors import ParseFailed

DATA = Path(os.environ.get("AGENTIC_RAG_TEST_DATA") or Path(__file__).parents[4] / "shared" / "data")

MOST_GROWTH = 64 << 20

CLASSES = {
    "PARSE_EMPTY": {"empty"},
    "PARSE_NO_TEXT": {"no_text"},
    "PARSE_ENCRYPTED": {"encrypted"},
    "PARSE_CORRUPT": {"corrupt"},
    "PARSE_ENCODING": {"corrupt"},
    "PARSE_GARBLED": {"no_text", "corrupt"},
    "PARSE_TYPE_MISMATCH": {"type_mismatch"},
    "PARSE_UNSUPPORTED": {"unsupported"},
    "PARSE_TOO_LARGE": {"too_large"},
    "PARSE_TIMEOUT": {"timeout"},
}
"""Our codes as the manifests' failure classes."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a file: its text, or the failure's code."""

    text: str | None
    code: str | None


pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="data: the shared test files are not here")


@pytest.fixture
async def parser() -> AsyncIterator[ProcessParser]:
    made = ProcessParser(children=2)
    yield made
    await made.aclose()


def resident() -> int:
    """Bytes that this process holds."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def rows_of(folder: str) -> list[dict[str, str]]:
    csv.field_size_limit(10**9)
    with (DATA / folder / "manifest.tsv").open(encoding="utf-8") as manifest:
        return list(csv.DictReader(manifest, delimiter="\t", quoting=csv.QUOTE_NONE))


async def outcome_of(parser: ProcessParser, path: Path) -> Outcome:
    try:
        return Outcome((await parser.parse(path.read_bytes(), path.name, None)).text, None)
    except ParseFailed as failure:
        return Outcome(None, failure.code)


def squeezed(text: str) -> str:
    return re.sub(r"\s+", "", unicodedata.normalize("NFKC", text)).casefold()


def holds(outcome: Outcome, phrases: list[str], least: int) -> bool:
    text = squeezed(outcome.text or "")
    return outcome.text is not None and sum(squeezed(phrase) in text for phrase in phrases) >= least


def report(folder: str, wrong: list[str], count: int) -> None:
    print(f"{folder}: {count - len(wrong)}/{count} as expected", *wrong, sep="\n  ")
    assert not wrong


async def test_the_first_set_of_files_ends_as_its_manifest_says(parser: ProcessParser) -> None:
    rows, wrong = rows_of("files"), list[str]()
    for row in rows:
        outcome = await outcome_of(parser, DATA / "files" / row["file"])
        failed_as = {one.replace("_", "-") for one in CLASSES.get(outcome.code or "", set())}
        phrase = FILLED.get(row["file"], row["phrase"])
        phrases = [phrase] if phrase.strip() else []
        good = holds(outcome, phrases, len(phrases)) if row["expected"] == "READY" else row["reason"] in failed_as
        if not good:
            wrong.append(f"{row['file']}: wanted {row['expected']} {row['reason']}, got {outcome.code or 'READY'}")
    report("files", wrong, len(rows))


# The sixty files of test_own_hostile_files.py are read by day; the night reads all of these, too.
@pytest.mark.timeout(600)
@pytest.mark.parametrize("share", [4, pytest.param(1, marks=pytest.mark.nightly)])
async def test_the_second_set_of_files_ends_as_its_manifest_says(parser: ProcessParser, share: int) -> None:
    rows, wrong = rows_of("files2")[::share], list[str]()
    await parser.parse(b"warm", "a.txt", None)
    before = resident()
    for row in rows:
        outcome = await outcome_of(parser, DATA / "files2" / row["file"])
        ready = holds(outcome, json.loads(row["phrases"]), int(row["min_phrases"]))
        failed = bool(CLASSES.get(outcome.code or "", set()) & {*row["fail_class"].split("|")})
        good = {"READY": ready, "FAILED": failed, "EITHER": ready or failed}[row["expected"]]
        if not good:
            wrong.append(f"{row['file']}: wanted {row['expected']} {row['fail_class']}, got {outcome.code or 'READY'}")
    report("files2", wrong, len(rows))
    assert resident() - before < MOST_GROWTH


_SECTION_ROW = re.compile(r"\| [^|]+ \|(?:  \|)+")


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("count", [1, pytest.param(12, marks=pytest.mark.nightly)])
async def test_the_filings_parse_and_have_the_words_that_pypdf_reads(parser: ProcessParser, count: int) -> None:
    paths = sorted((DATA / "sec-10q" / "docs").glob("*.pdf"))[:count]

    for path in paths:
        parsed = await parser.parse(path.read_bytes(), path.name, None)
        assert len(parsed.pages) > 20
        done = 0
        for block in parsed.blocks:
            assert done <= block.start < block.end <= len(parsed.text)
            assert not parsed.text[done : block.start].strip()
            done = block.end
        assert not parsed.text[done:].strip()
        if path is paths[0]:
            read = " ".join(page.extract_text() for page in pypdf.PdfReader(path).pages)
            # What a table says beside its words: bars, rules, the names of its columns once for each, and the label of
            # a section again where a part goes on with it.
            lines = parsed.text.split("\n")
            names = {word for line, rule in pairwise(lines) if "---" in rule for word in line.split()}
            names |= {word for line in lines if _SECTION_ROW.fullmatch(line) for word in line.split()}
            held, wanted = Counter(parsed.text.split()), Counter(read.split())
            assert not wanted - held
            assert {*(held - wanted)} <= names | {"|", "---"}
    assert len(paths) == count
