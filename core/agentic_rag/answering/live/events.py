"""Events of a run that goes on: what callers see before its answer."""

from __future__ import annotations

import enum
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

from agentic_rag.answering.answer import Citation
from agentic_rag.answering.run import StageRecord
from agentic_rag.answering.run_state import RunState
from agentic_rag.answering.state_machine import Stage
from agentic_rag.answering.verification.defang_links import defang_links


class RunEventKind(enum.Enum):
    """What happened."""

    RUN_STARTED = "run_started"
    STAGE_STARTED = "stage_started"
    STAGE_ENDED = "stage_ended"
    DRAFT = "draft"
    """Sentences were written; their quotes are not yet verified."""
    CITATION = "citation"
    """The quotes of a citation were found in the stored text."""
    ANSWER = "answer"
    """The run has ended. Not told by the run itself: its caller has the answer."""


@dataclass(frozen=True, slots=True)
class RunEvent:
    """One event, with what belongs to its kind."""

    kind: RunEventKind
    stage: Stage | None = None
    run_id: UUID | None = None
    """Of a run that starts: by this id it is cancelled, and found when it has ended."""
    record: StageRecord | None = None
    """Of a stage that ended."""
    draft: str | None = None
    citation: Citation | None = None

    @property
    def is_text(self) -> bool:
        """Whether it shows words of documents. The answer repeats them, so a slow reader may miss it."""
        return self.kind in (RunEventKind.DRAFT, RunEventKind.CITATION)


Watch = Callable[[RunEvent], None]
"""Called with each event, in order, from the run itself: it must not wait."""


class RunFeed:
    """The events of one run, for everybody who shares it. A caller who comes late is told first what happened."""

    def __init__(self) -> None:
        self._told: list[RunEvent] = []
        self._watches: list[Watch] = []

    @contextmanager
    def watched(self, watch: Watch | None) -> Generator[None]:
        """Tell `watch` the events so far and, inside the block, those that follow."""
        if watch is None:
            yield
            return
        for event in self._told:
            watch(event)
        self._watches.append(watch)
        try:
            yield
        finally:
            self._watches.remove(watch)

    def tell(self, event: RunEvent) -> None:
        """Tell everybody who watches."""
        self._told.append(event)
        for watch in self._watches:
            watch(event)

    def tell_start(self, stage: Stage) -> None:
        """A stage begins."""
        self.tell(RunEvent(RunEventKind.STAGE_STARTED, stage))

    def tell_end(self, stage: Stage, record: StageRecord, state: RunState) -> None:
        """A stage ended, and left this state."""
        self.tell(RunEvent(RunEventKind.STAGE_ENDED, stage, record=record))
        if stage is Stage.SYNTHESIZE and not state.draft.is_abstention and state.draft.sentences:
            text = " ".join(one.text for one in state.draft.sentences)
            self.tell(RunEvent(RunEventKind.DRAFT, stage, draft=defang_links(text, ())))
        elif stage is Stage.SELF_CHECK and state.ending is not None:
            for citation in state.ending.citations:
                self.tell(RunEvent(RunEventKind.CITATION, stage, citation=citation))


def without_text(watch: Watch | None) -> Watch | None:
    """A watch for who joins the run of another caller: whether it may read the same is judged when the run has ended,
    so it sees the stages only.
    """
    if watch is None:
        return None
    return lambda event: None if event.is_text else watch(event)
