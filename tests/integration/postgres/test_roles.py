"""No role the product acts as can see or write what is not its tenant's."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from uuid import UUID, uuid4

import asyncpg
import pytest
from tests.builders import entities_of
from tests.contract.backends import Backend
from tests.modest_login import modest_login

from agentic_rag.adapters.postgres.session.database import PostgresDatabase
from agentic_rag.adapters.postgres.session.pool import PoolOptions, PostgresPool
from agentic_rag.kernel.errors import DependencyUnavailable, Misconfigured
from agentic_rag.workspaces.settings import WorkspaceSettings
from agentic_rag_migrations import HEAD
from agentic_rag_migrations.catalogue import TABLES, TableClass

pytestmark = pytest.mark.integration

TENANT_TABLES = [name for name, kind in TABLES.items() if kind is not TableClass.GLOBAL]
READ_BY_OWNER = {
    "rag_workspaces",
    "rag_api_keys",
    # By the index of what a run cites, which a policy with a condition would forbid.
    "rag_runs",
    "rag_embedding_spaces",
    "rag_segments",
    "rag_vector_indexes",
    "rag_snapshots",
    "rag_organizations",
    "rag_moved_ordinals",
    "rag_provider_keys",
}
"""What the SECURITY DEFINER functions read, before or without a tenant."""

RUN = """
INSERT INTO rag_runs (org_id, workspace_id, run_id, trace_id, subject, question, outcome, cache, seconds,
                      corpus_version, graph_version, weights_version, pipeline_version, document_ids, answer,
                      created_at)
VALUES ($1, $2, gen_random_uuid(), '', 'user:a', '', 'GROUNDED', 'MISS', 0, 1, 1, '', '', ARRAY[$1::uuid], '{}', now())
"""
"""It cites a document that has the id of the organisation."""

AUDIT = """
INSERT INTO rag_audit (org_id, audit_id, workspace_id, actor, action, subject, created_at)
VALUES ($1, gen_random_uuid(), $2, 'user:a', 'act', 'of old', now() - interval '60 days')
"""


@asynccontextmanager
async def acting_as(url: str, role: str, org_id: UUID | None) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(url, server_settings={"role": role})
    try:
        async with connection.transaction():
            if org_id is not None:
                await connection.execute("SELECT set_config('rag.org_id', $1, true)", str(org_id))
            yield connection
    finally:
        await connection.close()


@pytest.fixture
async def tenant(stores: Backend) -> UUID:
    """An organisation with a published document."""
    workspace = await stores.workspace()
    entities = {"text": entities_of("A", "B", pairs=[("A", "B")])}
    await stores.publish(workspace, "a.md", ["text", "gone"], entities=entities)
    await stores.publish(workspace, "a.md", ["text"], entities=entities)
    await stores.cache.put(workspace, "k", b"v", 60)
    return workspace.org_id


@pytest.mark.parametrize("role", ["rag_app", "rag_owner", "rag_dispatcher"])
async def test_no_role_stands_above_the_policies(migrated_url: str, role: str) -> None:
    server = await asyncpg.connect(migrated_url)
    row = await server.fetchrow(
        "SELECT rolsuper, rolbypassrls, rolcanlogin, rolcreaterole FROM pg_roles WHERE rolname = $1", role
    )
    await server.close()

    assert tuple(row) == (False, False, False, False)


@pytest.mark.parametrize("foreigner", [None, uuid4()])
async def test_the_application_sees_no_foreign_row_even_without_a_predicate(
    migrated_url: str, tenant: UUID, foreigner: UUID | None
) -> None:
    async with acting_as(migrated_url, "rag_app", foreigner) as connection:
        seen = {table: await connection.fetchval(f"SELECT count(*) FROM {table}") for table in TENANT_TABLES}

    assert seen == dict.fromkeys(TENANT_TABLES, 0)


async def test_the_application_sees_its_own_rows(migrated_url: str, tenant: UUID) -> None:
    async with acting_as(migrated_url, "rag_app", tenant) as connection:
        seen = {table for table in TENANT_TABLES if await connection.fetchval(f"SELECT count(*) FROM {table}")}

    assert {"rag_chunks", "rag_embeddings", "rag_mentions", "rag_segments", "rag_closed_ordinals"} <= seen


async def test_the_application_writes_no_foreign_row(migrated_url: str, tenant: UUID) -> None:
    async with acting_as(migrated_url, "rag_app", uuid4()) as connection:
        changed = await connection.execute("UPDATE rag_documents SET title = 'mine'")
        deleted = await connection.execute("DELETE FROM rag_chunks")
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute("INSERT INTO rag_organizations (org_id, name) VALUES ($1, 'x')", tenant)

    assert (changed, deleted) == ("UPDATE 0", "DELETE 0")


async def test_the_owner_sees_only_what_its_functions_need(migrated_url: str, tenant: UUID) -> None:
    async with acting_as(migrated_url, "rag_owner", None) as connection:
        seen = {table for table in TENANT_TABLES if await connection.fetchval(f"SELECT count(*) FROM {table}")}

    assert seen <= READ_BY_OWNER


async def test_the_dispatcher_reads_no_arguments_and_no_other_table(migrated_url: str) -> None:
    for statement in ("SELECT arguments FROM rag_jobs", "SELECT text FROM rag_chunks", "DELETE FROM rag_jobs"):
        async with acting_as(migrated_url, "rag_dispatcher", None) as connection:
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.execute(statement)


OF_THE_OWNER = "prosecdef AND pronamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)"
"""Functions that do not run as their caller."""

BEFORE_AN_ORGANISATION = {"rag_authenticate", "rag_find_organization", "rag_provider_key_homes"}
"""Functions of the owner that say which organisations there are to bind."""


async def test_functions_of_the_owner_read_the_bound_organisation(migrated_url: str) -> None:
    server = await asyncpg.connect(migrated_url)
    functions = await server.fetch(f"SELECT proname, prosrc FROM pg_proc WHERE {OF_THE_OWNER}")
    await server.close()

    unbound = {row["proname"] for row in functions if "rag_current_org()" not in row["prosrc"]}
    upkeep = {name for name in unbound if name.startswith("rag_upkeep_")}
    assert unbound - upkeep == BEFORE_AN_ORGANISATION


async def test_functions_of_the_owner_find_its_tables_and_nobody_elses(migrated_url: str) -> None:
    """A caller may make temporary tables: they would be found first where no path is set, or where it does not end with
    them.
    """
    server = await asyncpg.connect(migrated_url)
    functions = await server.fetch(
        "SELECT proowner::regrole::text AS owner, proconfig, has_function_privilege('public', oid, 'EXECUTE') "
        f"AS anybody FROM pg_proc WHERE {OF_THE_OWNER}"
    )
    await server.close()

    found = {(one["owner"], tuple(one["proconfig"] or ()), one["anybody"]) for one in functions}
    assert found == {("rag_owner", ("search_path=public, pg_temp",), False)}


OF_THE_BOUND_ONE: Mapping[str, str] = {
    "rag_access_sets_above": "SELECT nullif(access_sets, 0) FROM rag_access_sets_above($1, $2, NULL, -1)",
    "rag_cached_answer": "SELECT rag_cached_answer($1, $2, 'k')",
    "rag_citing_runs": "SELECT rag_citing_runs($2, $1)",
    "rag_corpus_head": "SELECT head.epoch FROM rag_corpus_head($1, $2, NULL) head (epoch)",
    "rag_corpus_version": "SELECT rag_corpus_version($1, $2)",
    "rag_expire_audit": "SELECT nullif(rag_expire_audit($2, 1000), 0) WHERE $1::uuid IS NOT NULL",
    "rag_newest_access_set": "SELECT rag_newest_access_set($1, $2)",
}
"""A call of each function of the owner that the application may call: $1 is an organisation, or the document that a run
of it cites, $2 its workspace. Each tells something of what is its own.
"""

NAMES_ONLY = {"rag_organization_name_is_free"}
"""Compares a wished name with those of the other organisations, for operators."""


async def test_every_function_of_the_owner_that_the_application_may_call_is_known(migrated_url: str) -> None:
    server = await asyncpg.connect(migrated_url)
    callable_ = await server.fetch(
        f"SELECT proname FROM pg_proc WHERE {OF_THE_OWNER} AND has_function_privilege('rag_app', oid, 'EXECUTE')"
    )
    await server.close()

    assert {one["proname"] for one in callable_} == BEFORE_AN_ORGANISATION | OF_THE_BOUND_ONE.keys() | NAMES_ONLY


@pytest.mark.parametrize("name", OF_THE_BOUND_ONE)
async def test_what_another_organisation_binds_no_function_reads(stores: Backend, migrated_url: str, name: str) -> None:
    workspace = await stores.workspace(settings=WorkspaceSettings(audit_days=30))
    await stores.publish(workspace, "a.md", ["text"])
    await stores.cache.put(workspace, "k", b"v", 60)
    server = await asyncpg.connect(migrated_url)
    await server.execute(RUN, *workspace.key)
    await server.execute(AUDIT, *workspace.key)
    await server.close()

    read: dict[UUID | None, list[object]] = {}
    for bound in (None, uuid4(), workspace.org_id):
        async with acting_as(migrated_url, "rag_app", bound) as connection:
            found = await connection.fetch(OF_THE_BOUND_ONE[name], *workspace.key)
        read[bound] = [one[0] for one in found if one[0] is not None]

    assert read.pop(workspace.org_id)
    assert list(read.values()) == [[], []]


async def test_upkeep_of_all_organisations_leaves_none_bound(migrated_url: str, tenant: UUID) -> None:
    async with acting_as(migrated_url, "rag_dispatcher", None) as connection:
        await connection.fetch("SELECT * FROM rag_upkeep_retention()")
        bound = await connection.fetchval("SELECT rag_current_org()")

    assert bound is None


async def check_as(url: str, role: str | None, head: str = HEAD, *, refuses_owners: bool = False) -> None:
    database = PostgresDatabase(PostgresPool(url, PoolOptions(role=role)), head, refuses_owners=refuses_owners)
    try:
        await database.check()
    finally:
        await database.aclose()


async def test_the_check_accepts_the_application_role(migrated_url: str) -> None:
    await check_as(migrated_url, "rag_app")


@pytest.mark.parametrize("role", [None, "rag_owner"])
async def test_the_check_refuses_a_superuser_and_the_owner(migrated_url: str, role: str | None) -> None:
    with pytest.raises(Misconfigured) as refused:
        await check_as(migrated_url, role)

    assert refused.value.code == "DATABASE_ROLE_TOO_STRONG"


async def test_production_refuses_a_login_that_may_become_the_owner(migrated_url: str) -> None:
    async with modest_login(migrated_url) as modest:
        with pytest.raises(Misconfigured, match="AGENTIC_RAG_OWNER_DATABASE_URL") as refused:
            await check_as(migrated_url, "rag_app", refuses_owners=True)
        await check_as(modest, "rag_app", refuses_owners=True)

    assert refused.value.code == "DATABASE_ROLE_TOO_STRONG"


async def test_the_check_names_pending_migrations(migrated_url: str) -> None:
    with pytest.raises(Misconfigured, match="rag migrate up") as refused:
        await check_as(migrated_url, "rag_app", head="9999")

    assert refused.value.code == "SCHEMA_TOO_OLD"


async def test_the_check_names_a_schema_that_a_newer_version_made(migrated_url: str) -> None:
    with pytest.raises(Misconfigured, match="newer") as refused:
        await check_as(migrated_url, "rag_app", head="0001")

    assert refused.value.code == "SCHEMA_TOO_NEW"


async def test_the_check_names_a_server_that_does_not_answer() -> None:
    with pytest.raises(DependencyUnavailable) as refused:
        await check_as("postgresql://nobody@127.0.0.1:1/none", "rag_app")

    assert refused.value.dependency == "postgres"


async def test_an_unmigrated_database_is_told_to_migrate(fresh_database: str) -> None:
    with pytest.raises(Misconfigured, match="rag migrate up"):
        await check_as(fresh_database, "rag_app")
