"""Pools of connections to the Redis of an address: one server, or the primary that Sentinels or a cluster name."""

# redis-py's annotations are incomplete.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from typing import Any, TypeVar
from urllib.parse import urlsplit

from redis.asyncio import Connection, ConnectionPool, SSLConnection
from redis.exceptions import ConnectionError, ResponseError

from agentic_rag.adapters.redis.primaries import ClusterPrimary, Primary, SentinelPrimary, host_check, tls_options
from agentic_rag.jobs.redis_address import ClusterAddress, parse_redis

P = TypeVar("P", bound=ConnectionPool)


def pool_of(kind: type[P], url: str, **options: Any) -> P:
    """A pool for the address. Errors: ValueError."""
    address = parse_redis(url)
    if address is None:
        parts = urlsplit(url)
        return kind.from_url(url, **options, **(host_check(parts.query) if parts.scheme == "rediss" else {}))
    return kind(
        connection_class=EncryptedPrimaryConnection if address.is_encrypted else PrimaryConnection,
        primary=ClusterPrimary(address) if isinstance(address, ClusterAddress) else SentinelPrimary(address),
        db=address.database,
        username=address.username or None,
        password=address.password or None,
        **options,
        **tls_options(address),
    )


class PrimaryConnection(Connection):
    """Connects to the server that is primary at that moment: a connection that breaks, or whose server has handed on
    its place, finds the next one by itself.
    """

    def __init__(self, *, primary: Primary, **options: Any) -> None:
        super().__init__(**options)
        self._primary = primary

    async def _connect(self) -> None:
        self.host, self.port = await self._primary.find()
        await super()._connect()

    async def on_connect(self) -> None:
        await super().on_connect()
        await self.send_command(*self._primary.question)
        try:
            answer: Any = await super().read_response()
        except ResponseError as error:
            answer = error
        if not self._primary.is_confirmed_by(answer):
            # Who was cut off names the primary of before.
            raise ConnectionError(f"{self.host}:{self.port} was named and is not the primary (yet): {answer}")

    async def read_response(self, *arguments: Any, **options: Any) -> Any:
        try:
            return await super().read_response(*arguments, **options)
        except ResponseError as error:
            if not self._primary.has_moved(error):
                raise
            await self.disconnect()
            raise ConnectionError(f"{self.host}:{self.port} is not the primary any more: {error}") from error


class EncryptedPrimaryConnection(PrimaryConnection, SSLConnection):
    """The same over TLS."""
