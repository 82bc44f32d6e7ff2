"""What `rag doctor` finds out about Redis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agentic_rag.jobs.redis_address import CLUSTER_FORM, ClusterAddress, parse_redis
from agentic_rag.kernel.formatting import format_count
from agentic_rag_cli.commands.operations.check import ANSWER_SECONDS, DEGRADED, OK, Check, failure, ok
from agentic_rag_cli.commands.operations.store_writes import try_redis

_LEAST = (7, 0)
_MENDED = {"Redis": (7, 4), "Valkey": (7, 2)}
"""The oldest versions that their makers still mend, as of November 2026."""


async def check_redis(redis_url: str) -> Check:
    """Redis is reachable, as the address says a cluster or not, writable and new enough."""
    import redis.exceptions

    from agentic_rag.bootstrap.jobs import redis_client

    remedy = "Start the server, correct REDIS_URL, or unset it to use the embedded server."
    try:
        is_cluster = isinstance(parse_redis(redis_url), ClusterAddress)
        async with redis_client(redis_url, ANSWER_SECONDS) as client:
            server = await client.info("server")
            wrong = judge_scheme(server, is_cluster=is_cluster) or await try_redis(client, redis_url)
            if wrong is not None:
                return wrong
            found = judge_redis(server)
            return await _with_cluster(client, found) if is_cluster else found
    except (OSError, ValueError, redis.exceptions.RedisError) as error:
        return failure("redis", "REDIS_UNREACHABLE", str(error), remedy)


def judge_scheme(server: Mapping[str, object], *, is_cluster: bool) -> Check | None:
    """A failure where the address takes a node of a cluster for one server, or one server for such a node."""
    is_node = "cluster" in (server.get("redis_mode"), server.get("server_mode"))  # the names of Redis and of Valkey
    if is_node == is_cluster:
        return None
    if is_node:
        return failure("redis", "REDIS_CLUSTER", "a node of a cluster", f"Write {CLUSTER_FORM} in REDIS_URL.")
    return failure("redis", "REDIS_CLUSTER", "no node of a cluster", "Write redis://HOST:PORT/0 in REDIS_URL.")


def judge_redis(server: Mapping[str, object]) -> Check:
    """Whether what a server says of itself is new enough, and mended by those who make it."""
    name = "Valkey" if "valkey_version" in server else "Redis"
    found = str(server[f"{name.lower()}_version"])
    version = tuple(int(part) for part in found.split(".")[:2])
    remedy = "Use Valkey 7.2 or newer or Redis 7.4 or newer, or unset REDIS_URL to use the embedded Valkey."
    if version < _LEAST:
        return failure("redis", "REDIS_TOO_OLD", f"{name} {found}", remedy)
    if version < _MENDED[name]:
        told = f"{name} {found} gets no more fixes from its makers"
        return Check("redis", DEGRADED, told, "REDIS_UNSUPPORTED", f"{remedy} A distribution may still mend it.")
    return ok("redis", f"{name} {found}")


async def _with_cluster(client: Any, found: Check) -> Check:
    """The same, and what the primary of our slot says of its cluster; a user without CLUSTER or INFO gets the rest."""
    import redis.exceptions

    try:
        cluster = await client.execute_command("CLUSTER INFO")
        replicas = int((await client.info("replication"))["connected_slaves"])
    except redis.exceptions.NoPermissionError:
        return found
    return judge_cluster(found, cluster, replicas)


def judge_cluster(found: Check, cluster: Mapping[str, str], replicas: int) -> Check:
    """Whether a cluster is whole and can lose the primary with the `replicas`."""
    told = (
        f"{found.detail}, a cluster of {format_count(int(cluster['cluster_size']), 'shard')}; "
        f"the primary with our slot has {format_count(replicas, 'replica')}"
    )
    if found.status != OK:
        return replace(found, detail=told)
    if cluster["cluster_state"] != "ok" or cluster["cluster_slots_ok"] != cluster["cluster_slots_assigned"]:
        remedy = "See `CLUSTER INFO` and `redis-cli --cluster check HOST:PORT`."
        return Check("redis", DEGRADED, f"{told}; its state is not whole", "REDIS_CLUSTER_DEGRADED", remedy)
    if not replicas:
        remedy = "Start a replica of it: if the primary fails now, nothing takes its place."
        return Check("redis", DEGRADED, told, "REDIS_CLUSTER_DEGRADED", remedy)
    return replace(found, detail=told)
