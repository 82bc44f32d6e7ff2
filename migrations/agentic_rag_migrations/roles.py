"""What the schema needs before its first statement: pgvector, and three roles that cannot log in."""

from __future__ import annotations

import asyncpg

from agentic_rag.kernel.errors import Misconfigured
from agentic_rag_migrations.catalogue import ROLES

MINIMUM_SERVER_VERSION = 16
"""Postgres 16 introduced `GRANT … WITH SET`, by which a login may become a role without inheriting its rights."""

_GRANT_ATTEMPTS = 10

_VECTOR = """
SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'vector') AS installed,
       EXISTS (SELECT FROM pg_available_extensions WHERE name = 'vector') AS available
"""

_CREATE_ROLE = """
DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{role}') THEN
        CREATE ROLE {role} NOLOGIN;
    END IF;
END $$
"""

_MAY_BECOME = "SELECT pg_has_role(session_user, $1, 'SET')"

_GRANT_ROLE = "GRANT {role} TO SESSION_USER WITH INHERIT FALSE, SET TRUE"

_SCHEMA_READY = """
SELECT has_schema_privilege('rag_owner', 'public', 'CREATE') AND has_schema_privilege('rag_app', 'public', 'USAGE')
"""

_GRANT_SCHEMA = (
    "GRANT USAGE ON SCHEMA public TO rag_app, rag_dispatcher; GRANT USAGE, CREATE ON SCHEMA public TO rag_owner"
)


async def prepare_database(connection: asyncpg.Connection) -> None:
    """Create the extension and the roles where missing, and let the login act as each role.

    Works for a superuser and for a login with CREATEROLE that owns the database. May be repeated, and run in several
    databases of one cluster at once. Errors: `Misconfigured` codes POSTGRES_TOO_OLD, PGVECTOR_MISSING and
    MIGRATION_RIGHTS_MISSING.
    """
    version = connection.get_server_version().major
    if version < MINIMUM_SERVER_VERSION:
        raise Misconfigured(f"The server is Postgres {version}; use Postgres 16 or newer.", code="POSTGRES_TOO_OLD")
    await create_vector(connection)
    try:
        for role in ROLES:
            await _ensure_role(connection, role)
        if not await connection.fetchval(_SCHEMA_READY):
            await connection.execute(_GRANT_SCHEMA)
    except asyncpg.InsufficientPrivilegeError as error:
        raise Misconfigured(
            f"The login may not create the roles {', '.join(ROLES)} or use the schema public ({error}). Run the "
            "migration once as a superuser, or give the login CREATEROLE and the ownership of the database.",
            code="MIGRATION_RIGHTS_MISSING",
        ) from error


async def create_vector(connection: asyncpg.Connection) -> None:
    """Add pgvector where it is missing. Errors: `Misconfigured` code PGVECTOR_MISSING, naming the remedy."""
    state = await connection.fetchrow(_VECTOR)
    if state is None or state["installed"]:
        return
    if not state["available"]:
        raise Misconfigured(
            "This Postgres has no pgvector. Install it on the server (Debian: postgresql-NN-pgvector; Docker: an image "
            "pgvector/pgvector:pgNN), or unset DATABASE_URL to use the embedded server.",
            code="PGVECTOR_MISSING",
        )
    try:
        await connection.execute("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")
    except asyncpg.InsufficientPrivilegeError as error:
        raise Misconfigured(
            "pgvector is installed on the server but not in this database, and the login may not add it. "
            "As a superuser run in this database: CREATE EXTENSION vector;",
            code="PGVECTOR_MISSING",
        ) from error


async def _ensure_role(connection: asyncpg.Connection, role: str) -> None:
    """Roles belong to the cluster, so a migration of another database may be making the same one: look again."""
    for attempt in range(1, _GRANT_ATTEMPTS + 1):
        try:
            await connection.execute(_CREATE_ROLE.format(role=role))
            if not await connection.fetchval(_MAY_BECOME, role):
                await connection.execute(_GRANT_ROLE.format(role=role))
            return
        except (asyncpg.UniqueViolationError, asyncpg.DuplicateObjectError, asyncpg.InternalServerError):
            # InternalServerError: "tuple concurrently updated", two grants of the same role at once.
            if attempt == _GRANT_ATTEMPTS:
                raise
