"""Notices what callers do after a run, and stores what it tells of the run as feedback of its own kind."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from uuid import UUID

from agentic_rag.answering.feedback.feedback import Feedback, FeedbackKind, Rating
from agentic_rag.answering.ports import GateLog
from agentic_rag.answering.run import Run
from agentic_rag.kernel.clock import Clock
from agentic_rag.kernel.errors import AgenticRagError
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.kernel.text import fold_text
from agentic_rag.tenancy.principals import SubjectKind, WorkspaceRef

REPEAT_SECONDS = 120.0
"""Who asks the same again within it got no use of the answer. Set by hand."""
MOST_KNOWN = 10_000
"""Questions that a process remembers for as long; the same one asked of another process is not noticed."""
_RATINGS = {
    FeedbackKind.REPEATED: Rating.BAD,
    FeedbackKind.OPENED: Rating.GOOD,
    FeedbackKind.FOLLOWED: Rating.GOOD,
}
_PERSON = f"{SubjectKind.USER.value}:"

_Asked = tuple[WorkspaceRef, str, str, UUID | None]


class NoticeFeedback:
    """Writes in the background. Of people alone: the key of a program may ask for many of them. A failure never fails
    the request, and is not made up for.
    """

    def __init__(self, log: GateLog, clock: Clock, telemetry: Telemetry) -> None:
        self._log = log
        self._clock = clock
        self._telemetry = telemetry
        self._asked: OrderedDict[_Asked, tuple[UUID, float]] = OrderedDict()
        self._writing: set[asyncio.Task[None]] = set()

    def asked(self, run: Run, after: UUID | None) -> None:
        """A run was answered; `after` is the run that it follows."""
        if not run.subject.startswith(_PERSON):
            return
        if after is not None:
            self._note(run.workspace, after, run.subject, FeedbackKind.FOLLOWED)
        key, now = (run.workspace, run.subject, fold_text(run.question).casefold(), after), self._clock.monotonic()
        before = self._asked.pop(key, None)
        if before is not None and before[0] != run.run_id and now - before[1] <= REPEAT_SECONDS:
            self._note(run.workspace, before[0], run.subject, FeedbackKind.REPEATED)
        self._asked[key] = (run.run_id, now)
        if len(self._asked) > MOST_KNOWN:
            self._asked.popitem(last=False)

    def opened(self, run: Run, subject: str) -> None:
        """A caller looked at a page that the run cites; that of somebody else's run tells nothing."""
        if subject == run.subject and subject.startswith(_PERSON):
            self._note(run.workspace, run.run_id, subject, FeedbackKind.OPENED)

    async def aclose(self) -> None:
        """Wait for what is being written."""
        await asyncio.gather(*self._writing)

    def _note(self, workspace: WorkspaceRef, run_id: UUID, subject: str, kind: FeedbackKind) -> None:
        given = Feedback(run_id, subject, self._clock.now(), _RATINGS[kind], kind=kind)
        task = asyncio.get_running_loop().create_task(self._write(workspace, given))
        self._writing.add(task)
        task.add_done_callback(self._writing.discard)

    async def _write(self, workspace: WorkspaceRef, given: Feedback) -> None:
        try:
            is_stored = await self._log.add_feedback(workspace, given)
        except AgenticRagError as error:
            self._telemetry.event("rag_feedback_not_noticed", level="warning", code=error.code, kind=given.kind.value)
            return
        if is_stored:
            self._telemetry.count("rag_implicit_feedback_total", kind=given.kind.value)
