"""Every credential that exists somewhere: rows, roles of Postgres, users of Redis, private files of a home."""

from __future__ import annotations

import asyncio
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

import asyncpg

ROLES = "SELECT rolname FROM pg_authid WHERE rolcanlogin AND rolname !~ '^pg_'"
KEYS = (
    "SELECT k.name, k.expires_at IS NOT NULL AS ends, COALESCE((SELECT min(a.actor) FROM rag_audit a "
    "WHERE a.org_id = k.org_id AND a.subject = k.key_id::text AND a.action = 'api_key.create'), '') AS audited_for "
    "FROM rag_api_keys k WHERE k.revoked_at IS NULL"
)
PROVIDER_KEYS = "SELECT provider FROM rag_provider_keys"
DATA = ("postgres/data", "redis/data/appendonly", "blobs")
NO_SECRETS = (".lock", ".log")
"""What is no credential in a home: the servers' own files, and originals."""


@dataclass(frozen=True, order=True)
class Credential:
    """Something that lets its holder in."""

    kind: str
    name: str
    ends: bool = False
    """It stops working by itself."""
    audited_for: str = ""
    """Who made it, as the audit log says."""

    def __str__(self) -> str:
        audited = f", made by {self.audited_for}" if self.audited_for else ""
        return f"{self.kind} {self.name}{', ends' * self.ends}{audited}"


SECRET = Credential("file", "jwt-secret")
"""`serve` and `up` make it on loopback, for `rag token dev`; until the file is removed; it never leaves the home."""

BOOTSTRAP = Credential("API key", "bootstrap", ends=True, audited_for="system:cli")

DECLARED: Mapping[str, frozenset[Credential]] = {
    "migrate up": frozenset(),
    "serve": frozenset({SECRET}),
    "worker": frozenset(),
    "key bootstrap --expires 1h": frozenset({BOOTSTRAP}),
    "ingest": frozenset(),
    "snapshot create": frozenset(),
    "snapshot restore": frozenset(),
    "backup create": frozenset(),
    "backup restore": frozenset({BOOTSTRAP}),
    "up": frozenset(
        {
            SECRET,
            Credential("file", "dev-token"),
            Credential("file", "postgres/server.json"),
            Credential("file", "redis/server.json"),
            Credential("file", "redis/data/redis.conf"),
            Credential("database login", "postgres"),
            Credential("redis user", "default"),
        }
    ),
}
"""What each command adds. A restored backup brings the keys of the database that it was made of, with their entries in
the audit log, and nothing into a home. The files of `up` are made by it, for its home, until the home is removed: the
embedded servers listen on loopback only, and `dev-token` is worth nothing while no server runs with it.
"""


async def credentials_of(home: Path, database_url: str, redis_url: str) -> frozenset[Credential]:
    """All of a home, of a database with its cluster, and of a Redis."""
    found = {*files_of(home), *(Credential("redis user", one) for one in await _redis_users(redis_url))}
    server = await asyncpg.connect(database_url)
    try:
        found |= {Credential("database login", row["rolname"]) for row in await server.fetch(ROLES)}
        if await server.fetchval("SELECT to_regclass('rag_api_keys') IS NOT NULL"):
            for row in await server.fetch(KEYS):
                found.add(Credential("API key", row["name"], row["ends"], row["audited_for"]))
            found |= {Credential("provider key", row["provider"]) for row in await server.fetch(PROVIDER_KEYS)}
    finally:
        await server.close()
    return frozenset(found)


def files_of(home: Path) -> Iterator[Credential]:
    """The files that only their owner may read, data aside: whatever is kept so is a secret."""
    for path in sorted(home.rglob("*")):
        name = path.relative_to(home).as_posix()
        if any(f"/{name}".find(f"/{data}") >= 0 for data in DATA) or path.suffix in NO_SECRETS or not path.is_file():
            continue
        if not stat.S_IMODE(path.stat().st_mode) & 0o077:
            yield Credential("file", name)


async def _redis_users(url: str) -> list[str]:
    address = urlsplit(url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port or 6379)
    password = unquote(address.password or "")
    writer.write(f"AUTH {password}\r\nACL USERS\r\n".encode() if password else b"ACL USERS\r\n")
    lines: list[str] = []
    try:
        async with asyncio.timeout(2):
            while not (lines and lines[-1].startswith("$") is False and lines[-1] == "default"):
                line = (await reader.readline()).decode().strip()
                if line.startswith("-"):
                    return ["default"]  # It may not be asked: then it cannot be changed either.
                lines.append(line)
    finally:
        writer.close()
    return [line for line in lines if line and line[0] not in "+*$"]


def undeclared(command: str, before: frozenset[Credential], after: frozenset[Credential]) -> list[str]:
    """What a command added and did not declare, and what it declared and did not add."""
    added = after - before
    return [
        *(f"{command}: {one} is not declared" for one in sorted(added - DECLARED[command])),
        *(f"{command}: {one} is declared and not there" for one in sorted(DECLARED[command] - added)),
    ]
