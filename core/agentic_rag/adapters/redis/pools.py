"""Pools of connections to the Redis of an address: one server, or the primary that its Sentinels name."""

# redis-py's annotations are incomplete.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from typing import Any, TypeVar

from redis.asyncio import Connection, ConnectionPool, Redis, SSLConnection
from redis.asyncio.connection import parse_url
from redis.exceptions import ConnectionError, ReadOnlyError, RedisError

from agentic_rag.jobs.redis_address import SentinelAddress, parse_redis

P = TypeVar("P", bound=ConnectionPool)

ASK_SECONDS = 1.0
"""For a Sentinel to accept a connection, and to answer; then the next one is asked."""


def pool_of(kind: type[P], url: str, **options: Any) -> P:
    """A pool for the address. Errors: ValueError."""
    address = parse_redis(url)
    if address is None:
        return kind.from_url(url, **options)
    login = {"username": address.username or None, "password": address.password or None}
    connection = EncryptedPrimaryConnection if address.is_encrypted else PrimaryConnection
    return kind(
        connection_class=connection,
        address=address,
        db=address.database,
        **login,
        **options,
        **_tls_options(address),
    )


class PrimaryConnection(Connection):
    """Connects to the server that is primary at that moment: a connection that breaks finds the next one by itself."""

    def __init__(self, *, address: SentinelAddress, **options: Any) -> None:
        super().__init__(**options)
        self._address = address

    async def _connect(self) -> None:
        self.host, self.port = await find_primary(self._address)
        await super()._connect()

    async def on_connect(self) -> None:
        await super().on_connect()
        await self.send_command("ROLE")
        role: Any = await self.read_response()
        # A Sentinel that was cut off names the primary of before.
        if role[0] not in (b"master", "master"):
            raise ConnectionError(f"the Sentinels named {self.host}:{self.port}, which is no primary (yet)")

    async def read_response(self, *arguments: Any, **options: Any) -> Any:
        try:
            return await super().read_response(*arguments, **options)
        except ReadOnlyError as error:
            await self.disconnect()
            raise ConnectionError("this server is a replica by now") from error


class EncryptedPrimaryConnection(PrimaryConnection, SSLConnection):
    """The same over TLS."""


async def find_primary(address: SentinelAddress) -> tuple[str, int]:
    """Host and port of the primary, by the first Sentinel that knows it. Errors: `ConnectionError` of redis-py."""
    said: list[str] = []
    for host, port in address.sentinels:
        sentinel = Redis(
            host=host,
            port=port,
            username=address.sentinel_username or None,
            password=address.sentinel_password or None,
            ssl=address.is_encrypted,
            socket_timeout=ASK_SECONDS,
            socket_connect_timeout=ASK_SECONDS,
            **_tls_options(address),
        )
        try:
            async with sentinel:
                found: Any = await sentinel.execute_command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", address.service)
        except (RedisError, OSError) as error:
            said.append(f"{host}:{port}: {error}")
            continue
        if found:
            return found[0].decode(), int(found[1])
        said.append(f"{host}:{port} knows no service {address.service}")
    raise ConnectionError(f"no Sentinel names a primary: {'; '.join(said)}")


def _tls_options(address: SentinelAddress) -> dict[str, Any]:
    if not address.tls_query:
        return {}
    return {
        name: value for name, value in parse_url(f"rediss://?{address.tls_query}").items() if name.startswith("ssl")
    }
