"""What each caller may read in a workspace, kept between requests.

An access set never changes and none is removed: what a caller may read changes with the set that a document is in,
which each read compares, and with new sets, whose numbers rise. So the sets up to a number need no second look.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

from agentic_rag.adapters.postgres.session.connection import Row
from agentic_rag.adapters.postgres.tenancy.restricted_versions import HiddenVersions
from agentic_rag.tenancy.access import ReadIdentity, ReadScope
from agentic_rag.tenancy.principals import DEFAULT_ACCESS_ID, WorkspaceRef

MOST_NUMBERS = 500_000
"""Numbers of sets that are kept, of all callers together: 20 MB."""
MOST_CALLERS = 10_000
"""Callers that are kept, those that read no set of their own too: 5 MB."""

Caller = tuple[WorkspaceRef, tuple[str, ...] | None]


@dataclass(frozen=True, slots=True)
class _KnownSets:
    """The sets of a workspace up to number `newest`, of which the caller reads `access_ids`."""

    started: datetime
    """When the server started: one that was restored may hold other sets under the same numbers."""
    newest: int = -1
    access_ids: tuple[int, ...] = ()
    access_sets: int = 0

    def with_newer(self, row: Row) -> _KnownSets:
        """With the sets of a row of `SETS_ABOVE`."""
        access_ids = (*self.access_ids, *row["access_ids"])
        return _KnownSets(self.started, row["newest_set"], access_ids, self.access_sets + row["access_sets"])

    def scope(self, access_version: int) -> ReadScope:
        """What the caller may read."""
        access_ids = self.access_ids or (DEFAULT_ACCESS_ID,)
        return ReadScope(access_ids, len(access_ids) >= self.access_sets, access_version)


class ReadScopes:
    """The scopes of the callers that asked last. Fed from committed rows only: an uncommitted set may go, and its
    number be given to another.
    """

    def __init__(self, most_numbers: int = MOST_NUMBERS, most_callers: int = MOST_CALLERS) -> None:
        self._most = most_numbers
        self._most_callers = most_callers
        self._held = 0
        self._known: OrderedDict[Caller, _KnownSets] = OrderedDict()
        self._started: datetime | None = None
        self.hidden = HiddenVersions()

    @property
    def callers(self) -> int:
        """How many callers are kept."""
        return len(self._known)

    async def of(
        self,
        workspace: WorkspaceRef,
        readers: ReadIdentity,
        row: Row,
        read_above: Callable[[int], Awaitable[Row | None]],
        *,
        is_committed: bool = True,
    ) -> ReadScope:
        """The scope at a row with `access_version`, `newest_set` and `started`; `read_above` reads the newer sets. What
        a transaction read that has added a set itself is not committed, and not kept.
        """
        if row["started"] != self._started:
            self._started = row["started"]
            self.hidden.forget()
        caller = workspace, None if readers.is_unrestricted else readers.principals
        known = self._known.get(caller)
        if known is None or known.started != row["started"]:
            known = _KnownSets(row["started"])
        if known.newest < (row["newest_set"] or 0):
            newer = await read_above(known.newest)
            known = known if newer is None else known.with_newer(newer)
        if is_committed:
            self._keep(caller, known)
        return known.scope(row["access_version"])

    def _keep(self, caller: Caller, known: _KnownSets) -> None:
        before = self._known.pop(caller, None)
        self._held += len(known.access_ids) - (len(before.access_ids) if before else 0)
        self._known[caller] = known
        while self._known and (self._held > self._most or len(self._known) > self._most_callers):
            _, oldest = self._known.popitem(last=False)
            self._held -= len(oldest.access_ids)
