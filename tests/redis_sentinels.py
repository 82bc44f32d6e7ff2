"""A primary of Redis, a replica of it and three Sentinels that watch both, as real processes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import redis.asyncio
import redis.exceptions

from agentic_rag.embedded.loopback import HOST, free_port
from tests.waiting import eventually

SERVICE = "rag-tests"
PASSWORD = "of the servers"
SENTINEL_PASSWORD = "of-the-sentinels"

_SERVER = """\
port {port}
bind {host}
save ""
dir {folder}
requirepass "{password}"
masterauth "{password}"
repl-diskless-sync-delay 0
"""
_SENTINEL = """\
port {port}
bind {host}
dir {folder}
requirepass {own}
sentinel sentinel-pass {own}
sentinel monitor {service} {host} {primary} 2
sentinel auth-pass {service} "{password}"
sentinel down-after-milliseconds {service} 500
sentinel failover-timeout {service} 3000
"""


@dataclass(frozen=True, slots=True)
class RedisWatch:
    """Two servers by port, the three ports of the Sentinels, and the processes of all by their ports."""

    servers: tuple[int, int]
    sentinels: tuple[int, ...]
    processes: dict[int, asyncio.subprocess.Process]

    @property
    def url(self) -> str:
        """Of the service; the first of its Sentinels was never there."""
        hosts = ",".join(f"{HOST}:{port}" for port in (free_port(), *self.sentinels))
        login = f":{PASSWORD.replace(' ', '%20')}@"
        return f"redis+sentinel://{login}{hosts}/0?service={SERVICE}&sentinel_password={SENTINEL_PASSWORD}"

    async def named(self) -> int:
        """Port of the primary as the first Sentinel names it."""
        async with redis.asyncio.Redis(port=self.sentinels[0], password=SENTINEL_PASSWORD) as sentinel:
            found = await sentinel.execute_command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", SERVICE)
        return int(found[1])

    async def kill(self, port: int) -> None:
        """kill -9."""
        self.processes[port].kill()
        await self.processes[port].wait()


@asynccontextmanager
async def redis_watch(program: Path, folder: Path) -> AsyncIterator[RedisWatch]:
    """All of it, ready for a fail-over; ended with the block."""
    ports = [free_port() for _ in range(5)]
    watch = RedisWatch((ports[0], ports[1]), tuple(ports[2:]), {})
    async with AsyncExitStack() as stack:
        for port in watch.servers:
            text = _SERVER.format(port=port, host=HOST, folder=folder, password=PASSWORD)
            if port != watch.servers[0]:
                text += f"replicaof {HOST} {watch.servers[0]}\n"
            watch.processes[port] = await _start(stack, program, folder / f"{port}.conf", text)
        await eventually(lambda: _is_followed(watch.servers[0]), "the replica follows")
        for port in watch.sentinels:
            text = _SENTINEL.format(
                port=port, host=HOST, folder=folder, own=SENTINEL_PASSWORD, service=SERVICE, primary=watch.servers[0],
                password=PASSWORD,
            )  # fmt: skip
            watch.processes[port] = await _start(stack, program, folder / f"{port}.conf", text, "--sentinel")
            await eventually(partial(_looks_often, port), "a Sentinel looks often")
        await eventually(lambda: _knows_all(watch), "the Sentinels know each other and the replica", seconds=60)
        yield watch


async def _start(
    stack: AsyncExitStack, program: Path, configuration: Path, text: str, *arguments: str
) -> asyncio.subprocess.Process:
    configuration.write_text(text)
    process = await asyncio.create_subprocess_exec(
        program, str(configuration), *arguments, stdout=asyncio.subprocess.DEVNULL
    )

    async def end() -> None:
        if process.returncode is None:
            process.kill()
            await process.wait()

    stack.push_async_callback(end)
    return process


async def _is_followed(port: int) -> bool:
    try:
        async with redis.asyncio.Redis(port=port, password=PASSWORD) as client:
            told = await client.info("replication")
    except redis.exceptions.ConnectionError:
        return False
    return told["connected_slaves"] == 1 and told["slave0"]["state"] == "online"


async def _looks_often(port: int) -> bool:
    """By default a Sentinel asks every ten seconds what the servers are, and is told by the others every two."""
    try:
        async with redis.asyncio.Redis(port=port, password=SENTINEL_PASSWORD) as sentinel:
            often = ("INFO-PERIOD", "200", "PUBLISH-PERIOD", "200")
            return await sentinel.execute_command("SENTINEL", "DEBUG", *often) in (b"OK", True)
    except redis.exceptions.ConnectionError:
        return False


async def _knows_all(watch: RedisWatch) -> bool:
    for port in watch.sentinels:
        try:
            async with redis.asyncio.Redis(port=port, password=SENTINEL_PASSWORD) as sentinel:
                told = (await sentinel.info("sentinel"))["master0"]
        except (redis.exceptions.ConnectionError, KeyError):
            return False
        if (told["status"], int(told["slaves"]), int(told["sentinels"])) != ("ok", 1, 3):
            return False
    return True
