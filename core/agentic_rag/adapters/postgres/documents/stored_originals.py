"""Whether the database knows any original."""

from __future__ import annotations

from agentic_rag.adapters.postgres.session.pool import PoolOptions, PostgresPool

ANY = "SELECT rag_upkeep_originals_exist()"


async def originals_exist(dsn: str, role: str = "rag_dispatcher") -> bool:
    """Of any organisation, as the dispatcher's role, which learns no more. Errors: `DependencyUnavailable`."""
    pool = PostgresPool(dsn, PoolOptions(role=role, application_name="agentic-rag dispatcher", max_size=1))
    try:
        async with pool.connection() as connection:
            found: bool = await connection.fetchval(ANY)
            return found
    finally:
        await pool.aclose()
