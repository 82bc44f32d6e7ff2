"""Reads datasets: one JSON object a line, as docs/evaluation.md describes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from agentic_rag.kernel.errors import InvalidInput
from agentic_rag_eval.records import EvalDocument, EvalQuestion


def load_dataset(path: Path) -> list[EvalQuestion]:
    """Read a dataset. Errors: `InvalidInput` code DATASET_INVALID naming the line, or DATASET_MISSING."""
    if not path.is_file():
        raise InvalidInput(f"There is no dataset at {path}. Give a JSONL file with --dataset.", code="DATASET_MISSING")
    return parse_dataset(path.read_text(encoding="utf-8"), str(path))


def load_corpus(path: Path) -> list[EvalDocument]:
    """The documents of a corpus: one JSON object a line with `id title text`; blank lines and documents
    without text are skipped.

    Errors: `InvalidInput` code CORPUS_INVALID naming the line, or CORPUS_MISSING.
    """
    if not path.is_file():
        raise InvalidInput(f"There is no corpus at {path}. Give a JSONL file with --corpus.", code="CORPUS_MISSING")
    found: dict[str, EvalDocument] = {}
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                document = _document(line, f"{path}:{number}")
                if document.document_id in found:
                    raise InvalidInput(
                        f"{path}:{number}: the id {document.document_id!r} was given before.", code="CORPUS_INVALID"
                    )
                found[document.document_id] = document
    kept = [document for document in found.values() if document.text.strip()]
    if not kept:
        raise InvalidInput(f"{path} holds no document with text.", code="CORPUS_INVALID")
    return kept


def _document(line: str, where: str) -> EvalDocument:
    try:
        row: Mapping[str, Any] = json.loads(line)
        document = EvalDocument(str(row["id"]), str(row.get("title") or ""), str(row["text"]))
    except (ValueError, KeyError, TypeError, AttributeError) as problem:
        raise InvalidInput(
            f"{where}: expected an object with id, title, text ({problem}).", code="CORPUS_INVALID"
        ) from problem
    if not document.document_id:
        raise InvalidInput(f"{where}: a document needs an id.", code="CORPUS_INVALID")
    return document


def golden_set() -> list[EvalQuestion]:
    """The golden questions on the sample corpus, from the checkout or from the installed wheel."""
    checkout = Path(__file__).resolve().parents[1] / "agentic-rag" / "golden.jsonl"
    if checkout.is_file():
        return load_dataset(checkout)
    packaged = resources.files("agentic_rag_eval").joinpath("golden.jsonl")
    return parse_dataset(packaged.read_text(encoding="utf-8"), "golden.jsonl")


def parse_dataset(text: str, name: str) -> list[EvalQuestion]:
    """Parse the lines of a dataset; blank lines are skipped."""
    questions = [
        _question(line, f"{name}:{number}") for number, line in enumerate(text.splitlines(), 1) if line.strip()
    ]
    if not questions:
        raise InvalidInput(f"{name} holds no question.", code="DATASET_INVALID")
    return questions


def _question(line: str, where: str) -> EvalQuestion:
    try:
        row: Mapping[str, Any] = json.loads(line)
        question = EvalQuestion(
            question_id=str(row["id"]),
            question=str(row["question"]),
            answers=tuple(str(answer) for answer in row.get("answers", ())),
            gold_ids=tuple(str(gold) for gold in row.get("gold_ids", ())),
            kind=str(row.get("type", "single")),
            without=tuple(str(one) for one in row.get("without", ())),
            gold_spans=tuple((int(start), int(end)) for start, end in row.get("gold_spans", ())),
        )
    except (ValueError, KeyError, TypeError) as problem:
        raise InvalidInput(
            f"{where}: expected an object with id, question, answers, gold_ids ({problem}).", code="DATASET_INVALID"
        ) from problem
    if not question.question.strip():
        raise InvalidInput(f"{where}: the question is empty.", code="DATASET_INVALID")
    if question.gold_spans and len(question.gold_ids) != 1:
        raise InvalidInput(
            f"{where}: gold_spans are places in the one document of gold_ids; there are {len(question.gold_ids)}.",
            code="DATASET_INVALID",
        )
    if any(not 0 <= start < end for start, end in question.gold_spans):
        raise InvalidInput(
            f"{where}: a gold span is [start, end), characters counted from 0, and not empty.", code="DATASET_INVALID"
        )
    return question
