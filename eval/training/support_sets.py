"""The question sets that support is fitted on: some questions of each, over the documents that they need and those that
are nearest to them by words, so that a set is embedded and asked in minutes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from eval.training.fit_support import SupportSet

from agentic_rag.answering.evidence.answerability import AnswerabilityFeatures
from agentic_rag.answering.evidence.certainty import CertaintySigns
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.language.tokenizer import query_terms, term_counts
from agentic_rag.retrieval.lexical.bm25 import VisiblePostings
from agentic_rag.retrieval.lexical.postings import SegmentRow, build_segment
from agentic_rag_eval.dataset import load_corpus, load_dataset
from agentic_rag_eval.records import EvalDocument, EvalQuestion
from agentic_rag_eval.support_calibration import AskedSupport

NEAREST = 5
"""Documents beside its own that each question brings: what is found where its own are left out."""
QUESTIONS = "queries*.jsonl"


@dataclass(frozen=True, slots=True)
class QuestionsToAsk:
    """Questions with gold documents, and unanswerable ones, over these documents."""

    name: str
    known: tuple[EvalQuestion, ...]
    unanswerable: tuple[EvalQuestion, ...]
    documents: tuple[EvalDocument, ...]

    @property
    def all(self) -> list[EvalQuestion]:
        """Each question as it is asked: with its documents, without them, and those that none answers."""
        removed = [replace(one, without=one.gold_ids, gold_ids=()) for one in self.known]
        return [*self.known, *removed, *self.unanswerable]


def read_set(given: str, most: int) -> QuestionsToAsk:
    """At most `most` questions of each sort, spread over a FOLDER's, or over those of NAME=CORPUS.jsonl,QUERIES.jsonl.
    Errors: `InvalidInput` for missing files and sets without gold documents.
    """
    name, corpus, queries = _files(given)
    questions = load_dataset(queries)
    known = _spread([one for one in questions if one.gold_ids], most)
    unanswerable = _spread([one for one in questions if not one.answerable], most)
    if not known:
        raise InvalidInput(f"{queries}: no question has gold_ids.", code="DATASET_INVALID")
    return QuestionsToAsk(name, known, unanswerable, _nearest(load_corpus(corpus), [*known, *unanswerable]))


def _files(given: str) -> tuple[str, Path, Path]:
    name, _, files = given.partition("=")
    if files:
        corpus, _, queries = files.partition(",")
        return name, Path(corpus), Path(queries)
    folder = Path(given)
    found = sorted(folder.glob(QUESTIONS))
    if len(found) != 1:
        raise InvalidInput(f"{folder} holds {len(found)} files {QUESTIONS}; one is expected.", code="DATASET_MISSING")
    return folder.name, folder / "corpus.jsonl", found[0]


def _spread(questions: Sequence[EvalQuestion], most: int) -> tuple[EvalQuestion, ...]:
    places = range(len(questions)) if len(questions) <= most else (len(questions) * at // most for at in range(most))
    return tuple(questions[place] for place in places)


def _nearest(documents: Sequence[EvalDocument], questions: Sequence[EvalQuestion]) -> tuple[EvalDocument, ...]:
    """The gold documents of the questions, and the `NEAREST` others of each by BM25; in the order of the corpus."""
    rows = [SegmentRow(at, 1, 1, term_counts(f"{one.title}\n{one.text}")) for at, one in enumerate(documents)]
    postings = VisiblePostings.of([build_segment(rows)], np.zeros(0, np.int32), 1, [1])
    kept: set[str] = set()
    for one in questions:
        terms = query_terms(one.question)
        hits = postings.search(terms, None, NEAREST + len(one.gold_ids))
        others = (documents[hit.ordinal].document_id for hit in hits)
        kept.update(one.gold_ids, [other for other in others if other not in one.gold_ids][:NEAREST])
    return tuple(one for one in documents if one.document_id in kept)


@dataclass(frozen=True, slots=True)
class KeptAnswers:
    """What asking a set came to, in a file, so that a run that broke off goes on after the sets that it asked."""

    path: Path
    made_with: str
    """The embedder and the questions: what was kept of others is asked again."""

    def load(self, name: str) -> SupportSet | None:
        """The set, or None where it is not kept or signs were added since."""
        if not self.path.is_file():
            return None
        kept = json.loads(self.path.read_text(encoding="utf-8"))
        if kept["made_with"] != self._made_with:
            return None
        lists = ("signs", "certainty")
        return SupportSet(
            name, tuple(AskedSupport(**{**one, **{key: tuple(one[key]) for key in lists}}) for one in kept["asked"])
        )

    def save(self, found: SupportSet) -> None:
        """Write the set, whole or not at all."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        beside = self.path.with_suffix(".part")
        rows = [asdict(one) for one in found.asked]
        beside.write_text(json.dumps({"made_with": self._made_with, "asked": rows}), encoding="utf-8")
        beside.replace(self.path)

    @property
    def _made_with(self) -> str:
        signs = [*AnswerabilityFeatures.__dataclass_fields__, *CertaintySigns.__dataclass_fields__]
        return " ".join((self.made_with, *signs))
