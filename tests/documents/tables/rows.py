"""The rows on figures asked by row and column, of made tables and of real ones."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.bench.reports import Row, at_least, exactly
from tests.documents.reading import DATA, Read
from tests.documents.tables.asking import AskedTable, Verdict, ask_tables
from tests.documents.tables.made_tables import TableQuestion, made_table, question_of
from tests.documents.tables.table_files import WRITERS

_REAL = Path(__file__).with_name("real_tables.jsonl")
_HELD = Path(__file__).with_name("held_tables.jsonl")
"""Questions of other files, written before any answer to them was seen."""
_MADE, _FEW = 200, 8
_FORMATS = ("pdf", "docx", "pdf", "xlsx", "pdf", "csv", "pdf", "html")
"""In turn: half of them PDFs, which do not say what a table is."""
_LEAST_SHARE = 92


def tables(read: Read, short: bool) -> list[Row]:
    """Cells of made and of real tables, asked by row and column over all made and all real files."""
    made = [(seed, _FORMATS[seed % len(_FORMATS)]) for seed in range(_FEW if short else _MADE)]
    files: dict[str, bytes] = {}
    questions: list[TableQuestion] = []
    for seed, kind in made:
        table = made_table(seed)
        name = f"{table.title.replace(':', ',')}.{kind}"
        files[name] = WRITERS[kind](table, seed)
        questions.append(question_of(table, name, seed))
    rows = _judged("made tables", ask_tables(files.items(), questions, read))
    if short:
        return rows
    return rows + _judged("real tables", _asked(read, _REAL)) + _judged("other real tables", _asked(read, _HELD))


def _asked(read: Read, path: Path) -> list[AskedTable]:
    lines = map(json.loads, path.read_text("utf-8").splitlines())
    questions = [TableQuestion(**(one | {"columns": tuple(one["columns"])})) for one in lines]
    return ask_tables(_contents(questions).items(), questions, read)


def _contents(questions: Sequence[TableQuestion]) -> Mapping[str, bytes]:
    found: dict[str, bytes] = {}
    for name in dict.fromkeys(one.file for one in questions):
        content = (DATA / name).read_bytes()
        found[name.removesuffix(".gz")] = gzip.decompress(content) if name.endswith(".gz") else content
    return found


def _judged(name: str, asked: Sequence[AskedTable]) -> list[Row]:
    for kind in dict.fromkeys(_kind(one) for one in asked):
        counted = Counter(one.verdict for one in asked if _kind(one) == kind)
        print(f"    {name}, {kind}: {', '.join(f'{one.value} {counted[one]}' for one in Verdict)}", flush=True)
    verdicts = Counter(one.verdict for one in asked)
    share = 100 * verdicts[Verdict.RIGHT] / len(asked)
    return [
        at_least(f"{name}: {len(asked)} cells asked by row and column", share, _LEAST_SHARE, " %", timed=False),
        exactly(f"{name}: cited to another row", verdicts[Verdict.OTHER_ROW], 0),
    ]


def _kind(asked: AskedTable) -> str:
    return asked.question.file.removesuffix(".gz").rpartition(".")[2]
