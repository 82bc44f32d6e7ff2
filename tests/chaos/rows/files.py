"""Hostile and odd files beside good ones, through real workers."""

from __future__ import annotations

import csv
import json
import re
import shutil
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from tests.bench.corpus import SHARED
from tests.bench.processes import resident_megabytes
from tests.bench.reports import Row, at_most, exactly
from tests.chaos import corpus
from tests.chaos.children import WorkerProcess, crew
from tests.chaos.ground import Ground, Servers, new_ground, until
from tests.hostile import Hostile
from tests.hostile import hostile_files as own_files

OUTCOME = """
SELECT d.status, d.error_code, r.text
FROM rag_documents d LEFT JOIN rag_revisions r USING (org_id, workspace_id, document_id, revision_id)
WHERE d.source_path = $1
"""

CLASSES = {
    "PARSE_EMPTY": {"empty"}, "PARSE_NO_TEXT": {"no_text"}, "PARSE_ENCRYPTED": {"encrypted"},
    "PARSE_CORRUPT": {"corrupt"}, "PARSE_ENCODING": {"corrupt"}, "PARSE_GARBLED": {"no_text", "corrupt"},
    "PARSE_TYPE_MISMATCH": {"type_mismatch"}, "PARSE_UNSUPPORTED": {"unsupported"},
    "PARSE_TOO_LARGE": {"too_large"}, "PARSE_TIMEOUT": {"timeout"},
}  # fmt: skip
"""Our codes as the manifests' failure classes."""

LONGEST_NAME = 255
GROWTH_MEGABYTES = 64
OWN_SECONDS = 20.0
FILLED = {"9105ee-libreoffice-form.pdf": "Nationality: First Name Alice Last Name Birthday"}
"""The manifest's phrase of a form, with what was filled in between its labels."""
SHORT_SHARE = 48
"""The short form takes one file of so many; tests/integration/parsing reads all."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What a manifest wants of a file: READY with at least `least` of the phrases, or FAILED with one of the classes;
    EITHER takes both.
    """

    path: Path
    status: str
    classes: frozenset[str]
    phrases: tuple[str, ...]
    least: int


def shared_files() -> Iterator[Expected]:
    """The rows of both manifests."""
    csv.field_size_limit(10**9)
    for folder in ("files", "files2"):
        manifest = SHARED / folder / "manifest.tsv"
        if not manifest.is_file():
            return
        with manifest.open(encoding="utf-8") as lines:
            for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
                yield _of_first(row) if folder == "files" else _of_second(row)


def _of_first(row: dict[str, str]) -> Expected:
    path = SHARED / "files" / row["file"]
    if row["expected"] == "READY":
        phrase = FILLED.get(row["file"], row["phrase"])
        phrases = (phrase,) if phrase else ()
        return Expected(path, "READY", frozenset(), phrases, len(phrases))
    return Expected(path, "FAILED", frozenset({row["reason"].replace("-", "_"), "no_text"}), (), 0)


def _of_second(row: dict[str, str]) -> Expected:
    phrases = tuple(json.loads(row["phrases"]))
    classes = frozenset(row["fail_class"].split("|"))
    return Expected(SHARED / "files2" / row["file"], row["expected"], classes, phrases, int(row["min_phrases"]))


def expected_files(*, short: bool) -> list[Expected]:
    """The rows of both manifests, or the short form's share of them."""
    return [one for place, one in enumerate(shared_files()) if not short or place % SHORT_SHARE == 0]


def write_shared(folder: Path, expected: Sequence[Expected]) -> None:
    """Copy the files of the manifests, each below the name of its manifest's folder."""
    for one in expected:
        target = folder / one.path.parent.name
        target.mkdir(exist_ok=True)
        shutil.copy2(one.path, target / one.path.name)


def write_own(folder: Path, *, short: bool) -> dict[str, Hostile]:
    """Our own hostile files by source path. A name that no file can have gives way to one with its suffix."""
    folder.mkdir(parents=True)
    written: dict[str, Hostile] = {}
    for number, one in enumerate(own_files()):
        if short and number % SHORT_SHARE:
            continue
        name = f"{number:02}-{PurePosixPath(one.name).name}".replace("\0", "")
        if len(name.encode()) > LONGEST_NAME:
            name = f"{number:02}{PurePosixPath(one.name).suffix[:8]}"
        (folder / name).write_bytes(one.build())
        written[f"{folder.name}/{name}"] = one
    return written


@dataclass(frozen=True, slots=True)
class Worked:
    """How long workers were busy with a file, and how long it waited in them for its turn among large ones."""

    path: str
    worked: float
    waited: float


async def _slowest(ground: Ground, workers: Sequence[WorkerProcess]) -> Worked:
    """The file of our own that took longest, all its attempts together."""
    waited: Counter[str] = Counter()
    for worker in workers:
        for told in worker.told("rag_document_waited"):
            waited[told["document_id"]] += told["seconds"]
    rows = await ground.rows(
        "SELECT d.document_id::text, d.source_path, sum(extract(epoch FROM a.ended_at - a.started_at))::float AS s "
        "FROM rag_job_attempts a JOIN rag_jobs j USING (org_id, workspace_id, job_id) "
        "JOIN rag_documents d USING (org_id, workspace_id, document_id) WHERE d.source_path LIKE 'own/%' GROUP BY 1, 2"
    )
    files = [
        Worked(row["source_path"], row["s"] - waited[row["document_id"]], waited[row["document_id"]]) for row in rows
    ]
    return max(files, key=lambda one: one.worked)


async def hostile_files(servers: Servers, short: bool) -> list[Row]:
    """Every file of both manifests and our own beside 100 good ones, by two workers that have warmed up."""
    good = 10 if short else 100
    expected = expected_files(short=short)
    settings = {"AGENTIC_RAG_JOB_LEASE_SECONDS": "10", "AGENTIC_RAG_JOB_BACKOFF_MS": "200"}
    async with new_ground(servers, **settings) as ground, crew(ground) as workers:
        source = ground.home / "source"
        corpus.small(source, 10, first=300)
        running = [workers.start(), workers.start()]
        await ground.sync(source)
        await ground.until_idle()
        before = [resident_megabytes(worker.pid) for worker in running]
        corpus.small(source, good)
        write_shared(source, expected)
        own = write_own(source / "own", short=short)
        found = await ground.sync(source)
        peak = await _watch(ground, running, before)
        wrong = [line for one in expected if (line := await wrong_end(ground, one))]
        wrong_own = [line for path, one in own.items() if (line := await wrong_own_end(ground, path, one))]
        slowest = await _slowest(ground, running)
        ready = await ground.value(
            "SELECT count(*) FROM rag_documents WHERE status = 'READY' AND source_path LIKE 'report-%'"
        )
        deaths = sum(not worker.alive for worker in running)
        unfinished = await ground.value("SELECT count(*) FROM rag_documents WHERE status NOT IN ('READY', 'FAILED')")
        unnamed = await ground.value(
            "SELECT count(*) FROM rag_documents WHERE status = 'FAILED' AND error_code IS NULL"
        )
    for line in (*wrong, *wrong_own):
        print(f"    {line}")
    print(f"    slowest of our own: {slowest.path}, after {slowest.waited:.1f} s of waiting for its turn")
    print(f"    {len(found.new)} files; worker memory before {before}, grown by at most {peak:.0f} MB")
    return [
        exactly(f"{len(expected)} hostile and odd files: not as their manifest says", len(wrong), 0),
        exactly(f"{len(own)} hostile files of our own: not as their table says", len(wrong_own), 0),
        at_most("hostile files of our own: slowest", slowest.worked, OWN_SECONDS, " s"),
        exactly(f"hostile files: of {good + 10} good ones READY", ready, good + 10),
        exactly("hostile files: worker deaths", deaths, 0),
        exactly("hostile files: documents without an end or a code", unfinished + unnamed, 0),
        Row("hostile files: growth of a worker's memory", f"{peak:.0f} MB", f"< {GROWTH_MEGABYTES} MB",
            peak < GROWTH_MEGABYTES, value=peak),
    ]  # fmt: skip


async def _watch(ground: Ground, running: list[WorkerProcess], before: list[float]) -> float:
    """Wait for the end of all work; the largest growth of a worker seen meanwhile, in MB."""
    peak = 0.0

    async def idle() -> bool:
        nonlocal peak
        for worker, base in zip(running, before, strict=True):
            if worker.alive:
                peak = max(peak, resident_megabytes(worker.pid) - base)
        return not await ground.unfinished()

    await until(idle, "all jobs finished", 600, poll=0.1)
    return peak


async def wrong_own_end(ground: Ground, path: str, hostile: Hostile) -> str | None:
    """How the end of one of our own differs from its table's; None when it does not."""
    rows = await ground.rows(OUTCOME, path)
    if not rows:
        return f"{path}: not registered"
    text = rows[0]["text"] if rows[0]["status"] == "READY" else None
    if hostile.ended_well(text, rows[0]["error_code"]):
        return None
    return f"{path}: {rows[0]['status']} {rows[0]['error_code']}, wanted {hostile.phrase or set(hostile.codes)}"


async def wrong_end(ground: Ground, expected: Expected) -> str | None:
    """How a file's outcome differs from what its manifest says; None when it does not."""
    path = f"{expected.path.parent.name}/{expected.path.name}"
    rows = await ground.rows(OUTCOME, path)
    if not rows:
        return f"{path}: not registered"
    status, code, text = rows[0]["status"], rows[0]["error_code"], _squeezed(rows[0]["text"] or "")
    found = sum(_squeezed(phrase) in text for phrase in expected.phrases)
    is_ready = status == "READY" and found >= expected.least
    is_failed = status == "FAILED" and bool(CLASSES.get(code, {code}) & expected.classes)
    wanted = {"READY": is_ready, "FAILED": is_failed, "EITHER": is_ready or is_failed}
    if wanted[expected.status]:
        return None
    wants = f"{expected.status} {set(expected.classes)}"
    return f"{path}: {status} {code or ''} {found}/{expected.least} phrases, wanted {wants}"


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", unicodedata.normalize("NFKC", text)).casefold()
