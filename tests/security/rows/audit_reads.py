"""The row on reading: whatever hands out the text of a document is in the audit log. Every operation is asked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from uuid import UUID

from agentic_rag.kernel.pagination import PageRequest
from agentic_rag.tenancy.audit import AuditAction
from tests.bench.reports import Row, exactly
from tests.security.ground import Ground
from tests.security.operation_requests import FIELDS, ROUTES, TOOLS
from tests.security.rights_matrix import declared_by
from tests.security.rights_world import quoted
from tests.security.rows.hidden_work import READING_POSTS, Member, make_member
from tests.security.table import Measure
from tests.security.tenants import TwoTenants, two_tenants

UNQUOTED = "serviced in March"
"""Stands in the document beside the sentence that answers quote: what an answer quoted stands in its run."""
READS = frozenset(one.value for one in (AuditAction.READ_TEXT, AuditAction.READ_ORIGINAL, AuditAction.SEARCH_PASSAGES))
LEAST = 10
"""Fewer operations that hand out text than these, and they were not walked."""

Ask = Callable[[], Awaitable[str]]


def reading_operations(member: Member) -> Mapping[str, Ask]:
    """Every operation that changes nothing, with all of its fields and as the matrix of rights asks it."""
    rights = member.rights
    found: dict[str, Ask] = {}
    for name, request in FIELDS.items():
        if request.needs <= rights.ids.keys() and not name.startswith(("Mutation.", "Subscription.")):
            asked = {"json": {"query": f"{{ it: {request.text % quoted(rights.ids)} }}"}}
            found[name] = lambda sent=asked: member.send("POST", "/graphql", sent)
            if name.startswith("Query."):
                found[f"{name} with all of its fields"] = lambda of=(name, request): member.field(*of)
    methods = {name: one.method for name, one in declared_by(rights).routes.items()}
    for name, request in ROUTES.items():
        if request.needs <= rights.ids.keys() and (methods[name] == "GET" or name in READING_POSTS):
            path, body = request.text % rights.ids, request.body(rights.ids)
            found[name] = lambda sent=(methods[name], path, body): member.send(*sent)
    for name, request in TOOLS.items():
        if request.needs <= rights.ids.keys():
            found[name] = lambda of=(name, request): member.tool(*of)
    return found


class ReadLog:
    """The entries of an organisation's log that tell of reading."""

    def __init__(self, world: TwoTenants) -> None:
        self._world = world
        self._seen = set[UUID]()

    async def tells_more(self) -> bool:
        """Whether there are new ones since the last look."""
        async with self._world.container.database.transaction(self._world.ours.org_id) as transaction:
            page = await transaction.audit.page(PageRequest(100))
        entries = {entry.audit_id for entry in page.items if entry.action in READS}
        is_new = not entries <= self._seen
        self._seen |= entries
        return is_new


async def reads(ground: Ground, short: bool) -> list[Row]:
    """Each operation is asked once. Counted are those that hand out text that no answer quotes and leave no entry."""
    async with two_tenants(ground) as world:
        member, log = await make_member(world), ReadLog(world)
        handed, silent = list[str](), list[str]()
        await log.tells_more()
        for name, ask in reading_operations(member).items():
            reply, is_told = await ask(), await log.tells_more()
            if UNQUOTED in reply:
                handed.append(name)
                if not is_told:
                    silent.append(name)
                    print(f"  hands out text and leaves no entry: {name}: {reply[:600]}")
    print(f"    {', '.join(handed)}")
    return [
        exactly("operations that hand out text and leave no entry in the audit log", len(silent), 0),
        Row("operations that hand out text", str(len(handed)), f"≥ {LEAST}", len(handed) >= LEAST),
    ]


ROWS: Mapping[str, Measure] = {"audit-reads": reads}
