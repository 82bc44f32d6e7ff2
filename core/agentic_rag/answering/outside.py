"""What a run asks of the web, and what came of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from agentic_rag.answering.gate.rollback import Rollback
from agentic_rag.tenancy.principals import WorkspaceRef

LEAST_SECONDS = 1.0
"""A run with less time left does not begin to look outside."""
OUTSIDE_SHARE = 0.65
"""Share of the time left that looking outside may take, so that the run still answers from what it found."""


@dataclass(frozen=True, slots=True)
class OutsideRequest:
    """Where to look. Searches are words of the question and names that the workspace adds, and addresses are those that
    the caller wrote: text of a document or a page never comes here. With `follows_links` pages of the sites found may
    be read too to which a link with the words of a search leads.
    """

    workspace: WorkspaceRef
    searches: tuple[str, ...]
    addresses: tuple[str, ...] = ()
    follows_links: bool = False
    seconds: float = 5.0
    """What is not done by then is left to the workers."""
    first_hosts: tuple[str, ...] = ()
    """Patterns of hosts whose pages are read before others that a search names."""


@dataclass(frozen=True, slots=True)
class OutsideReport:
    """What came of it."""

    searches: int = 0
    """Searches that an engine answered."""
    pages: int = 0
    """Pages that were fetched."""
    ready: int = 0
    """Pages that readers see now and did not before, in this form."""
    known: int = 0
    """Pages that the workspace held as they are."""
    pending: int = 0
    """Pages that came too late for the answer: workers ingest them."""
    refusals: tuple[str, ...] = ()
    """Codes of what was not done, each once: a budget, a policy, a robots.txt, an engine or a page that failed."""
    version: int | None = None
    """The corpus version that shows the pages; None where there is nothing new."""

    @property
    def is_partial(self) -> bool:
        """Whether the answer had to do without something that was asked for outside."""
        return self.pending > 0 or (self.pages == 0 and self.known == 0 and bool(self.refusals))


LookOutside = Callable[[OutsideRequest], Awaitable[OutsideReport]]
"""Searches, fetches and ingests. It raises nothing of ours: what fails is in the report."""


@dataclass(frozen=True, slots=True)
class Outside:
    """How runs look outside."""

    look: LookOutside
    share_left: Callable[[WorkspaceRef], Awaitable[float]]
    """The share of the day's envelope that is left, 0 to 1. Errors: `DependencyUnavailable`."""
    rollbacks: Callable[[WorkspaceRef], Awaitable[tuple[Rollback, ...]]] | None = None
    """The plans that are done without for a while. Errors: `DependencyUnavailable`."""
