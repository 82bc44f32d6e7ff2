"""Which stored runs a list shows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from agentic_rag.answering.answer import Outcome
from agentic_rag.answering.run import Run
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.kernel.text import is_storable

MAX_WORDS = 200
"""Characters of `words`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFilter:
    """What a run must be. What is left out does not restrict.

    Answers are not searched: they may hold words of documents that a reader of the run may no longer read.

    Errors: `InvalidInput` code FILTER_INVALID for more than `MAX_WORDS` characters, and for words that no question
    holds.
    """

    subject: str | None = None
    words: str = ""
    """A part of the question; the case of letters does not count."""
    outcomes: frozenset[Outcome] = frozenset()
    since: datetime | None = None
    before: datetime | None = None
    thread: UUID | None = None

    def __post_init__(self) -> None:
        if len(self.words) > MAX_WORDS or not is_storable(self.words):
            raise InvalidInput(
                f"The words have {MAX_WORDS} characters at most, and neither NUL nor half a surrogate pair.",
                code="FILTER_INVALID",
                path=("filter", "words"),
            )

    def admits(self, run: Run) -> bool:
        """Whether the run is shown."""
        return (
            self.subject in (None, run.subject)
            and self.words.lower() in run.question.lower()
            and (not self.outcomes or run.answer.outcome in self.outcomes)
            and (self.since is None or run.created_at >= self.since)
            and (self.before is None or run.created_at < self.before)
            and self.thread in (None, run.thread)
        )


ALL_RUNS = RunFilter()
