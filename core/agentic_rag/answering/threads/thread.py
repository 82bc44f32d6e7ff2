"""A conversation that its subject finds again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from agentic_rag.tenancy.principals import MAX_NAME_CHARACTERS, WorkspaceRef

TURNS_READ = 4
"""The newest turns of a thread are the conversation that a question follows. A chat model reads them with their answers
to make it stand alone, so each costs what it holds. Set by hand.
"""


@dataclass(frozen=True, slots=True)
class Thread:
    """The runs that one subject asked one after another. Nobody else sees that they belong together."""

    workspace: WorkspaceRef
    thread_id: UUID
    """That of the run that began it."""
    subject: str
    title: str | None
    """As its subject named it; None: like its oldest question."""
    oldest_question: str
    """Of the runs that are still kept."""
    turns: int
    """The runs that are still kept."""
    began_at: datetime
    last_at: datetime

    @property
    def shown_title(self) -> str:
        """One line of at most `MAX_NAME_CHARACTERS` characters."""
        return self.title or " ".join(self.oldest_question.split())[:MAX_NAME_CHARACTERS]
