"""Many tenants, each with a secret word, in front of a real server and a real worker whose database pool is small."""

from __future__ import annotations

import asyncio
import contextlib
import random
import re
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

import httpx2

from agentic_rag.adapters.postgres.workspaces.organisation_register import PostgresOrganisationRegister
from agentic_rag.embedded.loopback import free_port
from agentic_rag.kernel.public_ids import NodeKind, encode_in_organisation
from agentic_rag.tenancy.manage_api_keys import KeyWish
from agentic_rag.tenancy.principals import Role
from agentic_rag.workspaces.administer import NewWorkspace
from tests.chaos.ground import Ground as Plane
from tests.chaos.ground import new_ground, until
from tests.otlp_receiver import OtlpReceiver, receiving_otlp
from tests.programs import Program
from tests.security.ground import Ground
from tests.security.servers import end

PRODUCT = "agentic_rag_cli"
POOL = 4
LETTERS = "abcdefghijklmnopqrstuvwxyz"
CANARY = re.compile(r"qanary[a-z]{14}")
QUESTION = "At which pressure does the relief valve open?"
"""What every tenant asks: the shared-looking document answers it, each tenant's with its own word."""


def new_canary(drawn: random.Random) -> str:
    """A word that is nowhere else."""
    return "qanary" + "".join(drawn.choices(LETTERS, k=14))


@dataclass
class Tenant:
    """An organisation, a token of an admin, its secret word, and the public ids of what it has."""

    number: int
    token: str
    workspace: str
    canary: str
    documents: list[str] = field(default_factory=list[str])
    jobs: list[str] = field(default_factory=list[str])
    runs: list[str] = field(default_factory=list[str])
    chunks: list[str] = field(default_factory=list[str])
    found: int = 0
    """Answers and listings in which it saw its own word."""

    @property
    def headers(self) -> Mapping[str, str]:
        return {"authorization": f"Bearer {self.token}"}

    def files(self) -> Mapping[str, str]:
        """Its documents. The first looks the same for all but for the word; of the second even the name is secret."""
        return {
            "valves.md": "# Relief valves\n\nThe relief valve of the boiler opens at a pressure of 3 bar. "
            f"The crew calls this relief valve {self.canary}.\n",
            f"notes-{self.canary}.md": f"# Notes on {self.canary}\n\nThe secret word of the house is {self.canary}. "
            "Nobody else may learn the secret word.\n",
            "pumps.md": "# Pumps\n\nThe pump lifts seven cubic metres of water in an hour. It is serviced in March.\n",
        }


@dataclass
class CanaryWorld:
    """The running product, its tenants, and where what it writes can be read."""

    plane: Plane
    tenants: Sequence[Tenant]
    http: httpx2.AsyncClient
    worker_metrics: str
    spans: OtlpReceiver

    def logs(self) -> str:
        """What server and worker wrote."""
        return "\n".join(path.read_text(errors="replace") for path in sorted(self.plane.home.glob("*.log")))

    async def metrics(self) -> str:
        """What server and worker show to Prometheus."""
        worker = await self.http.get(self.worker_metrics)
        return (await self.http.get("/metrics")).text + worker.text


@asynccontextmanager
async def canary_world(
    ground: Ground,
    count: int,
    *,
    program: str = PRODUCT,
    filled_by: str | None = None,
    prepared: Callable[[Plane], object] | None = None,
    **more: str,
) -> AsyncIterator[CanaryWorld]:
    """Tenants with their documents READY. `program` is the module to run as server and worker, `filled_by` another one
    that runs while the documents come.
    """
    port, metrics_port = free_port(), free_port()
    with receiving_otlp() as spans:
        variables = {
            "RAG_EMBEDDER": "deterministic",
            "AGENTIC_RAG_PORT": str(port),
            "AGENTIC_RAG_WORKER_METRICS_PORT": str(metrics_port),
            "AGENTIC_RAG_DATABASE_POOL_SIZE": str(POOL),
            "AGENTIC_RAG_LOG_LEVEL": "info",
            "AGENTIC_RAG_CHUNK_PROFILE": "default",
            "OTEL_EXPORTER_OTLP_ENDPOINT": spans.endpoint,
            **more,
        }
        async with new_ground(ground.servers(), **variables) as plane:
            tenants = await _tenants(plane, count)
            limits = httpx2.Limits(max_connections=64, max_keepalive_connections=64)
            client = httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60.0, limits=limits)
            async with client as http:
                world = CanaryWorld(plane, tenants, http, f"http://127.0.0.1:{metrics_port}/metrics", spans)
                if filled_by is not None:
                    async with _running(world, filled_by):
                        await _fill(world)
                if prepared is not None:
                    await prepared(plane)  # type: ignore[misc]
                async with _running(world, program):
                    if filled_by is None:
                        await _fill(world)
                    yield world


@asynccontextmanager
async def _running(world: CanaryWorld, program: str) -> AsyncIterator[None]:
    with _process(world.plane, program, "serve"), _process(world.plane, program, "worker"):
        await until(lambda: _answers(world.http), "the server answers", 60.0, 0.05)
        yield


async def _fill(world: CanaryWorld) -> None:
    await asyncio.gather(*(_upload(world, tenant) for tenant in world.tenants))


async def _tenants(plane: Plane, count: int) -> list[Tenant]:
    drawn = random.Random(20)
    register, container = PostgresOrganisationRegister(plane.database_url), plane.container
    tenants: list[Tenant] = []
    for number in range(count):
        org_id = uuid4()
        await register.create(org_id, f"tenant {number}", f"issuer-{number}")
        made = await container.api_keys.create(org_id, KeyWish("admin", Role.ADMIN), "test")
        workspace = await container.administer.create_workspace(org_id, NewWorkspace("handbook"), "test")
        public = encode_in_organisation(NodeKind.WORKSPACE, workspace.ref.workspace_id)
        tenants.append(Tenant(number, made.token, public, new_canary(drawn)))
    return tenants


@contextlib.contextmanager
def _process(plane: Plane, program: str, command: str) -> Iterator[None]:
    with (plane.home / f"{command}.log").open("ab") as log:
        notes = str(plane.home / f"{command}.notes")
        arguments = [sys.executable, "-m", program, command]
        environment = plane.environment(MUTANT_NOTES=notes)
        process = Program(arguments, env=environment, stdout=log, stderr=log, cwd=plane.home)
    try:
        yield
    finally:
        end(process)


async def _answers(http: httpx2.AsyncClient) -> bool:
    try:
        return (await http.get("/healthz")).status_code == 200
    except httpx2.TransportError:
        return False


async def _upload(world: CanaryWorld, tenant: Tenant) -> None:
    """One after the other, so that all tenants come to the same corpus version: their cache keys differ in nothing
    but the tenant.
    """
    for name, text in tenant.files().items():
        response = await upload(world, tenant, name, text)
        state = response.json()
        assert response.is_success, state

        async def ready(url: str = state["statusUrl"]) -> bool:
            found = (await world.http.get(url, headers=tenant.headers)).json()
            assert found["status"] != "FAILED", found
            return found["status"] == "READY"

        await until(ready, f"{name} is READY", 60.0, 0.03)


async def upload(world: CanaryWorld, tenant: Tenant, name: str, text: str) -> httpx2.Response:
    """Upload a file by REST and remember its ids; it may be refused while others write."""
    response = await world.http.post(
        f"/v1/workspaces/{tenant.workspace}/documents",
        files={"file": (name, text.encode(), "text/markdown")},
        headers=tenant.headers,
    )
    if response.is_success:
        state = response.json()
        tenant.documents.append(state["id"])
        tenant.jobs += [state["jobId"]] if state["jobId"] else []
    return response


def home_of(world: CanaryWorld, command: str) -> Path:
    """Where a mutated process wrote its notes."""
    return world.plane.home / f"{command}.notes"
