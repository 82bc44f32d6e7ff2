"""The lies of `make security`, by row."""

from __future__ import annotations

import asyncio
import re
import traceback
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from tests.plants import Mutant, Patch, nothing


def _documents_unmeasured(patch: Patch) -> None:
    from agentic_rag_server.graphql.http import limits

    patch(limits, "check", nothing)


def _causes_told(patch: Patch) -> None:
    from agentic_rag_server.graphql.http import view

    patch(
        view,
        "present",
        lambda errors, trace_id, _: [
            {
                "message": "".join(traceback.format_exception(one.original_error or one)),
                "extensions": {"code": "INTERNAL", "traceId": trace_id},
            }
            for one in errors
        ],
    )


def _mutations_by_get(patch: Patch) -> None:
    from agentic_rag_server.graphql.http import view

    patch(view, "QUERIES", view.QUERIES_AND_MUTATIONS)


def _addresses_unchecked(patch: Patch) -> None:
    from agentic_rag.adapters.web import fetcher

    checked = fetcher.resolve_safely
    patch(fetcher, "resolve_safely", lambda target, resolve: checked(target, resolve, nothing))


def _names_asked_twice(patch: Patch) -> None:
    from agentic_rag.adapters.web import fetcher

    once = fetcher.resolve_safely

    async def twice(target: Any, resolve: Any) -> tuple[str, ...]:
        await once(target, resolve)
        return tuple(await resolve(target.host, target.port))

    patch(fetcher, "resolve_safely", twice)


def _pages_eight_times_as_large(patch: Patch) -> None:
    from agentic_rag.adapters.web import fetcher

    meter, whole = fetcher.ByteLimit, fetcher.read_whole
    patch(fetcher, "ByteLimit", lambda most: meter(8 * most))
    patch(fetcher, "read_whole", lambda pieces, most, *, packed: whole(pieces, 8 * most, packed=packed))


def _links_left_live(patch: Patch) -> None:
    from agentic_rag.answering.verification import check

    patch(check, "defang_links", lambda text, *_: text)


def _tags_left_whole(patch: Patch) -> None:
    from agentic_rag.answering.verification import defang_links

    patch(defang_links, "_BROKEN", {mark: mark for mark in defang_links._BROKEN})


def _all_flagged(patch: Patch) -> None:
    from agentic_rag.language import prompt_injection

    patch(prompt_injection, "find_suspicions", lambda _: (prompt_injection.Suspicion.INSTRUCTION,))


def _heads_without_end(patch: Patch) -> None:
    from agentic_rag_server.connections import GuardedProtocol

    patch(GuardedProtocol, "_end_head", nothing)


def _claims_unread(patch: Patch) -> None:
    from agentic_rag.answering.verification import check

    patch(check, "find_unsupported", nothing)


def _slow_wall(patch: Patch) -> None:
    from agentic_rag_server.security_headers import SecurityHeaders

    served = SecurityHeaders.__call__

    async def slowly(self: SecurityHeaders, *message: Any) -> None:
        await asyncio.sleep(0.05)
        await served(self, *message)

    patch(SecurityHeaders, "__call__", slowly)


def _everybody_reads(patch: Patch) -> None:
    from agentic_rag.adapters.postgres.tenancy import access

    patch(access, "principals_of", nothing)


def _nothing_is_hidden(patch: Patch) -> None:
    from agentic_rag.adapters.postgres.tenancy.access import PostgresAccessStore

    async def unreadable(*_: Any) -> set[UUID]:
        return set()

    async def sees(self: PostgresAccessStore, workspace: Any, document_id: UUID, _: Any) -> bool:
        return bool(await self.held_sets(workspace, document_id))

    patch(PostgresAccessStore, "unreadable", unreadable)
    patch(PostgresAccessStore, "sees", sees)


def _stored_versions_shown(patch: Patch) -> None:
    from agentic_rag.adapters.postgres.tenancy.restricted_versions import HiddenVersions

    async def as_stored(_self: Any, _connection: Any, _workspace: Any, _scope: Any, version: int) -> int:
        return version

    patch(HiddenVersions, "shown", as_stored)


def _others_counted(patch: Patch) -> None:
    from agentic_rag.erasure.certificate import Certificate

    patch(Certificate, "without_counts_of_others", lambda self: self)


def _caller_unbound(patch: Patch) -> None:
    """The database is not told who is served."""
    from agentic_rag.adapters.postgres.session import database, pool

    for module in (database, pool):
        patch(module, "caller_setting", str)


def _hidden_looked_at_twice(patch: Patch) -> None:
    from agentic_rag.adapters.postgres.tenancy.access import PostgresAccessStore

    sees = PostgresAccessStore.sees

    async def twice(self: PostgresAccessStore, workspace: Any, document_id: UUID, readers: Any) -> bool:
        is_there = await sees(self, workspace, document_id, readers)
        if not is_there and await self.held_sets(workspace, document_id):
            await self.held_sets(workspace, document_id)
        return is_there

    patch(PostgresAccessStore, "sees", twice)


def _half_the_nearest(patch: Patch) -> None:
    from agentic_rag.adapters.postgres.retrieval.vectors import PostgresVectorReader

    nearest = PostgresVectorReader.nearest

    async def half(self: PostgresVectorReader, query: Any, space_id: int, limit: int, *more: Any) -> Any:
        return await nearest(self, query, space_id, limit // 2, *more)

    patch(PostgresVectorReader, "nearest", half)


def _tokens_for_anybody(patch: Patch) -> None:
    from agentic_rag.adapters.jwt import verifier

    decode = verifier.jwt.decode

    def without_names(token: str, key: Any, *, algorithms: Any, leeway: float, **_: Any) -> Any:
        options = {"verify_aud": False, "verify_iss": False}
        return decode(token, key, algorithms=algorithms, leeway=leeway, options=options)

    patch(verifier.jwt, "decode", without_names)


def _no_walls(patch: Patch) -> None:
    """The program that has neither predicates nor policies runs in the place of the one that the row starts."""
    import tests.security.rows.canaries as rows
    from tests.security import mutant

    world = rows.canary_world

    def unwalled(ground: Any, tenants: int, **_: Any) -> Any:
        # Writing mixes tenants up where nothing is left, and is refused by foreign keys: only reading is tried.
        more = {"program": rows.MUTANT, "filled_by": rows.PRODUCT, "prepared": rows._without_predicates}
        return world(ground, tenants, **more, **{mutant.WITHOUT_POLICIES: "1"})

    patch(rows, "canary_world", unwalled)


def _members_own(patch: Patch) -> None:
    from agentic_rag.documents import document_access

    patch(document_access, "may_own", lambda *_: True)


def _token_left_in_home(patch: Patch) -> None:
    from agentic_rag_server import main

    serve = main.run_server

    def leaving(settings: Any) -> None:
        file = settings.stores.state_home / "operator-token"
        file.write_text("rag_...")
        file.chmod(0o600)
        serve(settings)

    patch(main, "run_server", leaving)


def _organisation_of_the_id(patch: Patch) -> None:
    """The organisation is taken from the id that was sent, not from the caller."""
    from agentic_rag.kernel.public_ids import NodeKind, decode
    from agentic_rag.tenancy.principals import WorkspaceRef
    from agentic_rag_server.graphql.http import context
    from agentic_rag_server.rest.documents import uploads
    from agentic_rag_server.rest.http import operations
    from tests.security import tenants

    known: dict[UUID, UUID] = {}
    make = tenants._tenant

    async def noted(*arguments: Any) -> Any:
        made = await make(*arguments)
        known[decode(made.ids[NodeKind.WORKSPACE]).workspace_id] = made.org_id
        return made

    patch(tenants, "_tenant", noted)
    for module in (context, operations, uploads):
        patch(module, "WorkspaceRef", lambda org_id, workspace: WorkspaceRef(known.get(workspace, org_id), workspace))


def _acts_unwritten(patch: Patch) -> None:
    from agentic_rag.adapters.postgres.tenancy.audit import PostgresAuditLog
    from agentic_rag.tenancy.audit import AuditAction

    record = PostgresAuditLog.record

    async def forgetful(self: PostgresAuditLog, entry: Any) -> None:
        if entry.action is not AuditAction.SET_DOCUMENT_ACCESS:
            await record(self, entry)

    patch(PostgresAuditLog, "record", forgetful)


def _chunks_read_silently(patch: Patch) -> None:
    from agentic_rag.documents import read_chunk

    async def silent(*_: Any, **__: Any) -> None: ...

    patch(read_chunk, "audit_read", silent)


def _keys_repeated(patch: Patch) -> None:
    from agentic_rag.adapters.openai import client
    from agentic_rag.kernel import error_redaction

    patch(client, "_forget_key", nothing)
    patch(error_redaction, "_PROVIDER_KEY", re.compile("(?!)"))


MUTANTS: Mapping[str, Mutant] = {
    "chained-fragments": Mutant("documents are not measured", _documents_unmeasured, "refused"),
    "hostile-requests": Mutant("errors tell their causes", _causes_told, "something internal", is_slow=True),
    "graphql-http": Mutant("mutations are served by GET", _mutations_by_get, "audits", is_slow=True),
    "outbound-addresses": Mutant("resolved addresses are not checked", _addresses_unchecked, "as expected"),
    "rebinding": Mutant("a name is asked again after the check", _names_asked_twice, "connections to loopback"),
    "bombs": Mutant("pages may be eight times as large", _pages_eight_times_as_large, "bomb"),
    "obedient-model": Mutant("links stay as they were written", _links_left_live, "live links"),
    "answers-in-viewers": Mutant("tags are left whole", _tags_left_whole, "live tags"),
    "flags": Mutant("every text is flagged", _all_flagged, "ordinary passages"),
    # One cell of it without this wall is in tests/security/test_planted_faults.py.
    "before-a-request": Mutant("a head may take any time", _heads_without_end, "borne too long", is_slow=True),
    "fuzzed-answers": Mutant("what a model adds to its quote is not looked for", _claims_unread, "inventions"),
    "cost": Mutant("a wall takes 50 ms", _slow_wall, "with the walls", is_slow=True),
    "random-rights": Mutant("everybody reads everything", _everybody_reads, "unreadable documents named", is_slow=True),
    "small-corner": Mutant("half of the nearest passages are found", _half_the_nearest, "10"),
    "forged-tokens": Mutant("issuer and audience are not compared", _tokens_for_anybody, "refused"),
    "tenant-canaries": Mutant("neither predicates nor policies", _no_walls, "foreign words in", is_slow=True),
    "tenant-canaries-mutant": Mutant("policies are gone as well", _no_walls, "foreign words in", is_slow=True),
    "rights-matrix": Mutant("every member has the rights of owners", _members_own, "differ", is_slow=True),
    "credentials": Mutant("`serve` leaves a token in the home", _token_left_in_home, "differ", is_slow=True),
    "foreign-ids": Mutant("the organisation is taken from the id", _organisation_of_the_id, "foreign ids"),
    "hidden-ids": Mutant("a document says who it is to everybody", _nothing_is_hidden, "hidden"),
    "closed-workspace": Mutant("the database is not told who is served", _caller_unbound, "may not enter"),
    "hidden-work": Mutant("versions are shown as they are stored", _stored_versions_shown, "hidden work"),
    "own-deletions": Mutant("certificates count what others did", _others_counted, "tell of hidden"),
    "same-time": Mutant("a hidden document is looked at once more", _hidden_looked_at_twice, "other statements"),
    "foreign-paths": Mutant("the organisation is taken from the id", _organisation_of_the_id, "as", is_slow=True),
    "audit-log": Mutant("a change of readers is not written down", _acts_unwritten, "leave no entry"),
    "audit-reads": Mutant("who reads a chunk is not written down", _chunks_read_silently, "leave no entry"),
    "canary-keys": Mutant("a key that a provider repeats is kept", _keys_repeated, "canary keys in"),
    "injected-exceptions": Mutant("errors tell their causes", _causes_told, "leaked"),
}
