"""REDIS_URL taken apart where it names Sentinels. A cluster is refused: the queue writes several keys at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote, urlsplit

SENTINEL_PORT = 26379
DIRECT = frozenset({"redis", "rediss", "unix"})
SENTINEL = frozenset({"redis+sentinel", "rediss+sentinel"})
CLUSTER = frozenset({"redis+cluster", "rediss+cluster"})
CLUSTER_REFUSED = (
    "Redis Cluster cannot carry the queue, which writes keys of several slots in one transaction: name one primary "
    "(redis://) or the Sentinels of one (redis+sentinel://)"
)
FORM = "redis+sentinel://USER:PASSWORD@HOST:26379,HOST:26379/0?service=NAME"
_OPTIONS = frozenset({"service", "sentinel_username", "sentinel_password"})
_TLS = "ssl_"


@dataclass(frozen=True, slots=True)
class SentinelAddress:
    """Sentinels that say where the primary of a service is now."""

    sentinels: tuple[tuple[str, int], ...]
    """Hosts and ports, in the order in which they are asked."""
    service: str
    database: int = 0
    username: str = ""
    password: str = field(default="", repr=False)
    """The login of the primary; empty where it asks for none."""
    sentinel_username: str = ""
    sentinel_password: str = field(default="", repr=False)
    """The login of the Sentinels; empty where they ask for none."""
    is_encrypted: bool = False
    """TLS, to the Sentinels and to the primary."""
    tls_query: str = ""
    """Options of TLS as they stand in the address (`ssl_ca_certs=…`)."""


def parse_redis(text: str) -> SentinelAddress | None:
    """The Sentinels of an address; None for that of one server. Errors: ValueError."""
    parts = urlsplit(text)
    if parts.scheme in CLUSTER:
        raise ValueError(CLUSTER_REFUSED)
    if parts.scheme not in SENTINEL:
        if "://" in text and parts.scheme not in DIRECT:
            raise ValueError(f"expected redis://, rediss://, unix:// or {FORM}")
        return None
    login, _, hosts = parts.netloc.rpartition("@")
    username, _, password = login.partition(":")
    options = dict(parse_qsl(parts.query))
    unknown = {name for name in options if name not in _OPTIONS and not name.startswith(_TLS)}
    database = parts.path.strip("/") or "0"
    if unknown or not options.get("service") or not database.isdecimal():
        raise ValueError(f"expected {FORM}; more options are sentinel_username, sentinel_password and ssl_…")
    return SentinelAddress(
        tuple(_host_and_port(one) for one in hosts.split(",")),
        options["service"],
        int(database),
        unquote(username),
        unquote(password),
        options.get("sentinel_username", ""),
        options.get("sentinel_password", ""),
        parts.scheme == "rediss+sentinel",
        "&".join(one for one in parts.query.split("&") if one.startswith(_TLS)),
    )


def _host_and_port(text: str) -> tuple[str, int]:
    """Of `HOST:PORT`, `HOST` or `[IPV6]:PORT`. Errors: ValueError."""
    try:
        parts = urlsplit(f"//{text}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host or port == 0:
        raise ValueError(f"expected hosts with their ports, as in {FORM}")
    return host, port or SENTINEL_PORT
