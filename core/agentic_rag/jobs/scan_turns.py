"""Has one job of a process recognise words in scans at a time, so that scans do not hold back other files."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from uuid import UUID

from agentic_rag.kernel.errors import JobPostponed

SPACING_SECONDS = 1.0
"""Between two postponed scans that come back: about as long nobody has the turn. A scanned page takes 3 to 5 s."""
LONGEST_PAUSE = 600.0
"""Seconds that one job is postponed, however many wait."""


class ScanTurns:
    """A document that finds the turn taken is postponed: the slot of its worker is free for files with text."""

    def __init__(self) -> None:
        self._is_taken = False
        self._postponed: dict[UUID, float] = {}
        """When each document was postponed last, oldest first."""

    def require_turn(self, document_id: UUID) -> None:
        """Refuse a document that was postponed before while the turn is taken: it need not be read to know that.

        Errors: `JobPostponed`.
        """
        if document_id in self._postponed and self._is_taken:
            raise self._postpone(document_id)

    @contextmanager
    def take(self, document_id: UUID) -> Generator[None]:
        """Hold the turn during the block. Errors: `JobPostponed`."""
        if self._is_taken:
            raise self._postpone(document_id)
        self._is_taken = True
        self._postponed.pop(document_id, None)
        try:
            yield
        finally:
            self._is_taken = False

    def _postpone(self, document_id: UUID) -> JobPostponed:
        """The more documents wait, the longer each pauses. One that did not come back is another worker's, or gone."""
        now = asyncio.get_running_loop().time()
        self._postponed.pop(document_id, None)
        self._postponed[document_id] = now
        while (oldest := next(iter(self._postponed))) and self._postponed[oldest] < now - 2 * LONGEST_PAUSE:
            del self._postponed[oldest]
        pause = min(SPACING_SECONDS * len(self._postponed), LONGEST_PAUSE)
        return JobPostponed("Scans of other documents are read first.", retry_after_seconds=pause)
