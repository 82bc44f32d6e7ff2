"""REDIS_URL taken apart where it names Sentinels or nodes of a cluster, and what the keys are called there."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

REDIS_PORT = 6379
SENTINEL_PORT = 26379
DIRECT = frozenset({"redis", "rediss", "unix"})
SENTINEL = frozenset({"redis+sentinel", "rediss+sentinel"})
CLUSTER = frozenset({"redis+cluster", "rediss+cluster"})
SENTINEL_FORM = "redis+sentinel://USER:PASSWORD@HOST:26379,HOST:26379/0?service=NAME"
CLUSTER_FORM = "redis+cluster://USER:PASSWORD@HOST:6379,HOST:6379"
CLUSTER_TAG = "{rag}"
"""Hash tag of every key in a cluster: transactions, scripts and commands of several keys need all of them in one slot.
"""
_SENTINEL_OPTIONS = frozenset({"service", "sentinel_username", "sentinel_password"})
_TLS = "ssl_"


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedAddress:
    """Servers that are asked, in this order, which one is the primary now."""

    hosts: tuple[tuple[str, int], ...]
    """Hosts and ports."""
    database: int = 0
    username: str = ""
    password: str = field(default="", repr=False)
    """The login of the primary; empty where it asks for none."""
    is_encrypted: bool = False
    """TLS, to all of them."""
    tls_query: str = ""
    """Options of TLS as they stand in the address (`ssl_ca_certs=…`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SentinelAddress(WatchedAddress):
    """`hosts` are Sentinels; they watch the primary of a service."""

    service: str
    sentinel_username: str = ""
    sentinel_password: str = field(default="", repr=False)
    """The login of the Sentinels; empty where they ask for none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterAddress(WatchedAddress):
    """`hosts` are nodes of a Redis Cluster, not necessarily all of them."""


def parse_redis(text: str) -> SentinelAddress | ClusterAddress | None:
    """The address of Sentinels or of a cluster; None for that of one server. Errors: ValueError."""
    parts = urlsplit(text)
    if parts.scheme in SENTINEL:
        return _sentinels(parts)
    if parts.scheme in CLUSTER:
        return _cluster(parts)
    if "://" in text and parts.scheme not in DIRECT:
        raise ValueError(f"expected redis://, rediss://, unix://, {SENTINEL_FORM} or {CLUSTER_FORM}")
    return None


def key_prefix(url: str, name: str) -> str:
    """What the keys of `name` begin with at an address: in a cluster with its hash tag."""
    return f"{CLUSTER_TAG}:{name}" if urlsplit(url).scheme in CLUSTER else name


def tag_of(prefix: str) -> str:
    """The hash tag that a prefix begins with; empty where it has none."""
    return CLUSTER_TAG if prefix.startswith(CLUSTER_TAG) else ""


def _sentinels(parts: SplitResult) -> SentinelAddress:
    options = _options(parts)
    database = parts.path.strip("/") or "0"
    if not options.keys() <= _SENTINEL_OPTIONS or not options.get("service") or not database.isdecimal():
        raise ValueError(f"expected {SENTINEL_FORM}; more options are sentinel_username, sentinel_password and ssl_…")
    username, password = _login(parts)
    return SentinelAddress(
        hosts=_hosts(parts, SENTINEL_PORT, SENTINEL_FORM),
        database=int(database),
        username=username,
        password=password,
        is_encrypted=parts.scheme.startswith("rediss"),
        tls_query=_tls_query(parts),
        **options,
    )


def _cluster(parts: SplitResult) -> ClusterAddress:
    if parts.path.strip("/") not in ("", "0"):
        raise ValueError(f"a Redis Cluster has database 0 alone; expected {CLUSTER_FORM}")
    if _options(parts):
        raise ValueError(f"expected {CLUSTER_FORM}; its options are ssl_…")
    username, password = _login(parts)
    return ClusterAddress(
        hosts=_hosts(parts, REDIS_PORT, CLUSTER_FORM),
        username=username,
        password=password,
        is_encrypted=parts.scheme.startswith("rediss"),
        tls_query=_tls_query(parts),
    )


def _options(parts: SplitResult) -> dict[str, str]:
    """Without those of TLS."""
    return {name: value for name, value in parse_qsl(parts.query) if not name.startswith(_TLS)}


def _tls_query(parts: SplitResult) -> str:
    """Errors: ValueError."""
    query = "&".join(one for one in parts.query.split("&") if one.startswith(_TLS))
    if query and not parts.scheme.startswith("rediss"):
        raise ValueError("the options ssl_… need rediss+cluster:// or rediss+sentinel://")
    return query


def _login(parts: SplitResult) -> tuple[str, str]:
    username, _, password = parts.netloc.rpartition("@")[0].partition(":")
    return unquote(username), unquote(password)


def _hosts(parts: SplitResult, default_port: int, form: str) -> tuple[tuple[str, int], ...]:
    """Of `HOST:PORT`, `HOST` or `[IPV6]:PORT` between commas. Errors: ValueError."""
    found: list[tuple[str, int]] = []
    for text in parts.netloc.rpartition("@")[2].split(","):
        try:
            one = urlsplit(f"//{text}")
            host, port = one.hostname, one.port
        except ValueError:
            host, port = None, None
        if not host or port == 0:
            raise ValueError(f"expected hosts with their ports, as in {form}")
        found.append((host, port or default_port))
    return tuple(found)
