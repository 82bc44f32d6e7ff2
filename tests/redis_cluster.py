"""Redis Clusters as real processes: three primaries with a replica each, and one node for what needs no other."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import redis
from redis.crc import key_slot

from agentic_rag.embedded.loopback import HOST, free_port
from agentic_rag.embedded.process import Launch
from agentic_rag.embedded.redis import EmbeddedRedis
from agentic_rag.embedded.state import ServerState
from agentic_rag.jobs.redis_address import CLUSTER_TAG
from tests.waiting import wait_until

SLOT = key_slot(CLUSTER_TAG.encode())


class OneSlotCluster(EmbeddedRedis):
    """The embedded Redis as a cluster of one node with one slot, that of the product's keys: a key of any other slot is
    an error.
    """

    def start(self) -> str:
        url = super().start()
        with redis.Redis.from_url(url.replace("redis+cluster", "redis")) as client:
            node: Any = client
            if b"cluster_slots_assigned:0" in node.execute_command("CLUSTER", "INFO"):
                node.execute_command("CLUSTER", "ADDSLOTS", SLOT)
            wait_until(lambda: b"cluster_state:ok" in node.execute_command("CLUSTER", "INFO"), "the slot is served")
        return url

    def _launch(self, state: ServerState) -> Launch:
        launch = super()._launch(state)
        options = "--cluster-enabled yes --cluster-config-file nodes.conf --cluster-require-full-coverage no"
        return replace(launch, command=(*launch.command, *options.split()))

    def _url(self, state: ServerState) -> str:
        return f"redis+cluster://:{state.password}@{HOST}:{state.port}"


PASSWORD = "of the nodes"
PRIMARIES, REPLICAS = range(3), range(3, 6)
OWNER = 1
"""The node that has the slot at first: not the one that is asked first."""

_RANGES = ("10923-16383", "0-5460", "5461-10922")
_NODE = """\
port {port}
cluster-port {bus}
bind {host}
save ""
dir "{folder}"
requirepass "{password}"
masterauth "{password}"
repl-diskless-sync-delay 0
cluster-enabled yes
cluster-config-file nodes.conf
cluster-node-timeout 1000
"""


@dataclass
class RedisCluster:
    """Nodes 0 to 2 are primaries at first, node 3 + n a replica of node n."""

    program: Path
    folder: Path
    ports: list[tuple[int, int]] = field(default_factory=lambda: [(free_port(), free_port()) for _ in range(6)])
    """Of each node for clients and for the other nodes."""
    processes: dict[int, subprocess.Popen[bytes]] = field(default_factory=dict[int, "subprocess.Popen[bytes]"])

    @property
    def url(self) -> str:
        """The first of its nodes was never there."""
        hosts = ",".join(f"{HOST}:{port}" for port in (free_port(), *[port for port, _ in self.ports]))
        return f"redis+cluster://:{PASSWORD.replace(' ', '%20')}@{hosts}"

    def node_url(self, node: int) -> str:
        """As if it were one server."""
        return f"redis://:{PASSWORD.replace(' ', '%20')}@{HOST}:{self.ports[node][0]}/0"

    def start(self, node: int) -> None:
        """Start a node that is not running, with what it knew of the others."""
        port, bus = self.ports[node]
        home = self.folder / str(node)
        if not home.exists():
            home.mkdir()
            (home / "nodes.conf").write_text(self._first_view(node))
            text = _NODE.format(port=port, bus=bus, host=HOST, folder=home, password=PASSWORD)
            (home / "redis.conf").write_text(text)
        command = (self.program, str(home / "redis.conf"))
        self.processes[node] = subprocess.Popen(command, stdout=subprocess.DEVNULL)

    def kill(self, node: int) -> None:
        """kill -9."""
        self.processes[node].kill()
        self.processes[node].wait()

    def mend(self) -> None:
        """Start the nodes that are down; wait until each primary has its replica and all slots are served."""
        for node in range(6):
            if node not in self.processes or self.processes[node].poll() is not None:
                self.start(node)
        wait_until(self._is_whole, "the cluster is whole", seconds=60)

    def ask(self, node: int, *command: object) -> Any:
        """What a node answers. Errors: those of redis-py."""
        with redis.Redis(port=self.ports[node][0], password=PASSWORD) as client:
            return client.execute_command(*command)

    def owner(self) -> int:
        """The node that serves the slot."""
        for node in range(6):
            try:
                self.ask(node, "EXISTS", f"{CLUSTER_TAG}:owner")
            except redis.RedisError:
                continue
            return node
        return -1

    def name(self, node: int) -> str:
        """Of the node among the others."""
        return f"{node:040x}"

    def move(self, source: int, target: int, key: bytes) -> None:
        """Move a key of the slot that `source` gives to `target`."""
        self.ask(source, "MIGRATE", HOST, self.ports[target][0], key, 0, 5_000, "AUTH", PASSWORD)

    def is_replica(self, node: int) -> bool:
        """Whether it runs, and follows another."""
        try:
            return self.ask(node, "ROLE")[0] == b"slave"
        except redis.RedisError:
            return False

    def _first_view(self, myself: int) -> str:
        """All nodes know each other from the start, as if they had met."""
        lines: list[str] = []
        for node, (port, bus) in enumerate(self.ports):
            role = f"slave {self.name(node - 3)}" if node in REPLICAS else "master -"
            flags, _, primary = role.partition(" ")
            flags = f"myself,{flags}" if node == myself else flags
            slots = f" {_RANGES[node]}" if node in PRIMARIES else ""
            epoch = 1 + node % 3
            lines.append(f"{self.name(node)} {HOST}:{port}@{bus} {flags} {primary} 0 0 {epoch} connected{slots}\n")
        return "".join([*lines, "vars currentEpoch 3 lastVoteEpoch 0\n"])

    def _is_whole(self) -> bool:
        primaries = 0
        for node in range(6):
            try:
                if b"cluster_state:ok" not in self.ask(node, "CLUSTER", "INFO"):
                    return False
                role = self.ask(node, "ROLE")
            except redis.RedisError:
                return False
            primaries += role[0] == b"master" and len(role[2]) >= 1
        return primaries == 3


@contextmanager
def redis_cluster(program: Path, folder: Path) -> Iterator[RedisCluster]:
    """Six nodes, whole; ended with the block."""
    cluster = RedisCluster(program, folder)
    with ExitStack() as stack:
        for node in range(6):
            cluster.start(node)
            stack.callback(cluster.kill, node)
        cluster.mend()
        yield cluster
