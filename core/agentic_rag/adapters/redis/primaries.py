"""Which server is the primary now: as Sentinels say, or as the nodes of a cluster say of the slot with our keys."""

# redis-py's annotations are incomplete.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from typing import Any, TypeAlias
from urllib.parse import parse_qsl

from redis.asyncio import Redis
from redis.asyncio.connection import parse_url
from redis.exceptions import ConnectionError, ReadOnlyError, RedisError, ResponseError

from agentic_rag.jobs.redis_address import CLUSTER_TAG, ClusterAddress, SentinelAddress, WatchedAddress

ASK_SECONDS = 1.0
"""For a Sentinel or node to accept a connection, and to answer; then the next one is asked."""

_HANDED_ON = frozenset({"MOVED", "ASK", "TRYAGAIN", "CLUSTERDOWN", "UNBLOCKED"})
"""First words of answers by which a node says that a slot is elsewhere, on its way, or served by nobody. redis-py 5
knows them in its client for clusters alone.
"""


class SentinelPrimary:
    """The primary of a service, by the first Sentinel that knows it."""

    question = ("ROLE",)
    """The command that shows whether a server is the primary."""

    def __init__(self, address: SentinelAddress) -> None:
        self._address = address

    def is_confirmed_by(self, answer: Any) -> bool:
        """Whether a server that answers thus is the primary. Errors: an answer that is an error and tells neither."""
        if isinstance(answer, ResponseError):
            raise answer
        return answer[0] in (b"master", "master")

    def has_moved(self, error: ResponseError) -> bool:
        """Whether a server says by an error that it is not the primary any more, or cannot tell at present."""
        return isinstance(error, ReadOnlyError)

    async def find(self) -> tuple[str, int]:
        """Host and port. Errors: `ConnectionError` of redis-py."""
        address = self._address
        said: list[str] = []
        for host, port in address.hosts:
            try:
                async with _client(
                    address, host, port, address.sentinel_username, address.sentinel_password
                ) as sentinel:
                    found: Any = await sentinel.execute_command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", address.service)
            except (RedisError, OSError) as error:
                said.append(f"{host}:{port}: {error}")
                continue
            if found:
                return found[0].decode(), int(found[1])
            said.append(f"{host}:{port} knows no service {address.service}")
        raise ConnectionError(f"no Sentinel names a primary: {'; '.join(said)}")


class ClusterPrimary:
    """As `SentinelPrimary`: the primary that has the slot of our keys, by the first node that knows it. A node that is
    asked for a key of the slot answers, names the owner (`MOVED`), or says that its part of the cluster is cut off
    (`CLUSTERDOWN`).
    """

    question = ("EXISTS", f"{CLUSTER_TAG}:owner")

    def __init__(self, address: ClusterAddress) -> None:
        self._address = address

    def is_confirmed_by(self, answer: Any) -> bool:
        """A node that gives the slot away keeps it until the last key has gone (`ASK`)."""
        if not isinstance(answer, ResponseError) or _first_word(answer) == "ASK":
            return True
        if self.has_moved(answer):
            return False
        raise answer

    def has_moved(self, error: ResponseError) -> bool:
        return isinstance(error, ReadOnlyError) or _first_word(error) in _HANDED_ON

    async def find(self) -> tuple[str, int]:
        address = self._address
        said: list[str] = []
        for host, port in address.hosts:
            try:
                async with _client(address, host, port, address.username, address.password) as node:
                    await node.execute_command(*self.question)
            except ResponseError as error:
                if _first_word(error) == "ASK":
                    return host, port
                if owner := _owner(error):
                    return owner[0] or host, owner[1]
                said.append(f"{host}:{port}: {error}")
            except (RedisError, OSError) as error:
                said.append(f"{host}:{port}: {error}")
            else:
                return host, port
        raise ConnectionError(f"no node of the cluster names the primary of its slot: {'; '.join(said)}")


Primary: TypeAlias = SentinelPrimary | ClusterPrimary
"""How the one server of several is found that takes writes."""


def tls_options(address: WatchedAddress) -> dict[str, Any]:
    """Those of the address, as redis-py takes them."""
    if not address.is_encrypted:
        return {}
    given = parse_url(f"rediss://?{address.tls_query}").items()
    return host_check(address.tls_query) | {name: value for name, value in given if name.startswith("ssl")}


def host_check(query: str) -> dict[str, bool]:
    """That a certificate has to name the host, unless the options of TLS say that none is looked at. redis-py 5 takes
    that of any host where it is not told to check.
    """
    return {} if dict(parse_qsl(query)).get("ssl_cert_reqs") == "none" else {"ssl_check_hostname": True}


def _client(address: WatchedAddress, host: str, port: int, username: str, password: str) -> Redis:
    return Redis(
        host=host,
        port=port,
        username=username or None,
        password=password or None,
        ssl=address.is_encrypted,
        socket_timeout=ASK_SECONDS,
        socket_connect_timeout=ASK_SECONDS,
        **tls_options(address),
    )


def _owner(error: ResponseError) -> tuple[str, int] | None:
    """Host and port of `MOVED SLOT HOST:PORT`; without a host it is that of the node that was asked, and `?` stands for
    one that it does not know.
    """
    words = str(error).split()
    if len(words) != 3 or words[0] != "MOVED":
        return None
    host, _, port = words[2].rpartition(":")
    return None if host == "?" else (host, int(port))


def _first_word(error: ResponseError) -> str:
    return str(error).partition(" ")[0]
