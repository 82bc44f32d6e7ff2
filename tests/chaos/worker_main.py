"""A real worker that stops, pauses or dies at a named step.

The wiring is the product's; only the ports of its container are wrapped by a layer that says where the work is. Plans
come as JSON in CHAOS_PLANS, what is reached is shown as files in CHAOS_FOLDER. With CHAOS_PLANT=deaf the heartbeat
learns nothing. tests/plants breaks the product on purpose.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from agentic_rag.adapters.neo4j.connection import Neo4jOptions
from agentic_rag.bootstrap import Container
from agentic_rag.kernel.errors import AgenticRagError, DependencyUnavailable
from agentic_rag.settings import load_settings
from agentic_rag_worker.job_handlers import job_handlers
from agentic_rag_worker.worker import run_worker, worker_options
from tests.waiting import eventually

CURRENT: ContextVar[UUID | None] = ContextVar("document", default=None)

NAMED = {
    ("jobs", "lease"): "lease",
    ("documents", "stage"): "stage",
    ("documents", "stage_vectors"): "vectors",
    ("publisher", "publish"): "publish",
    ("jobs", "finish"): "finish",
    ("jobs", "enqueue"): "enqueue",
}
"""Calls inside a transaction; each has a step NAME.uncommitted and a step NAME.committed."""


class Gate:
    """Knows the plans; every wrapped port passes through it."""

    def __init__(self, plans: Sequence[dict[str, Any]], folder: Path, plant: str) -> None:
        self.plans = plans
        self.folder = folder
        self.plant = plant
        self._visits: Counter[str] = Counter()

    async def at(self, step: str, document: UUID | None = None) -> None:
        document = document or CURRENT.get()
        for plan in self.plans:
            if plan["step"] != step or plan["match"] not in ("", str(document)):
                continue
            self._visits[step] += 1
            first, last = plan["visits"]
            if first <= self._visits[step] <= last:
                await self._act(plan)

    async def _act(self, plan: dict[str, Any]) -> None:
        match plan["action"]:
            case "pause":
                await asyncio.sleep(plan["seconds"])
            case "die":
                os.kill(os.getpid(), signal.SIGKILL)
            case "block":
                (self.folder / f"reached-{uuid4()}").touch()
                while True:
                    time.sleep(1)  # noqa: ASYNC251 - the fault itself
            case _:
                (self.folder / f"reached-{uuid4()}").touch()
                await eventually(self._may_go_on, "the test lets it go on", seconds=600)

    async def _may_go_on(self) -> bool:
        return (self.folder / "go").exists()

    def note(self, **entry: object) -> None:
        with (self.folder / "journal").open("a") as file:
            file.write(json.dumps(entry) + "\n")


class SteppedStore:
    """A store of a transaction whose calls are written down in `done`."""

    def __init__(self, inner: Any, name: str, gate: Gate, done: list[tuple[str, Any]]) -> None:
        self._inner = inner
        self._name = name
        self._gate = gate
        self._done = done

    def __getattr__(self, method: str) -> Any:
        call = getattr(self._inner, method)
        step = NAMED.get((self._name, method))
        if (self._name, method) == ("publisher", "compact"):
            return self._begun(call, "compact")
        if step is None:
            return call

        async def stepped(*arguments: Any, **options: Any) -> Any:
            result = await call(*arguments, **options)
            if step == "lease" and result is None:
                return result
            document = result.job.document_id if step == "lease" else CURRENT.get()
            if step == "publish":
                for one in result:
                    if one.refusal is not None:
                        self._gate.note(step="publish", refusal=one.refusal)
            self._done.append((step, document))
            await self._gate.at(f"{step}.uncommitted", document)
            return result

        return stepped

    def _begun(self, call: Any, step: str) -> Any:
        async def begun(*arguments: Any, **options: Any) -> Any:
            await self._gate.at(f"{step}.begin")
            return await call(*arguments, **options)

        return begun


class SteppedTransaction:
    """A transaction with stepped stores."""

    def __init__(self, inner: Any, gate: Gate, done: list[tuple[str, Any]]) -> None:
        self._inner = inner
        self._gate = gate
        self._done = done

    def __getattr__(self, name: str) -> Any:
        return SteppedStore(getattr(self._inner, name), name, self._gate, self._done)


class SteppedDatabase:
    """The database, with a step before and after each commit that matters."""

    def __init__(self, inner: Any, gate: Gate) -> None:
        self._inner = inner
        self._gate = gate

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    @asynccontextmanager
    async def transaction(self, org_id: UUID) -> AsyncIterator[Any]:
        done: list[tuple[str, Any]] = []
        try:
            async with self._inner.transaction(org_id) as transaction:
                yield SteppedTransaction(transaction, self._gate, done)
        except AgenticRagError as error:
            self._gate.note(step="transaction", refusal=error.code)
            raise
        for step, document in done:
            await self._gate.at(f"{step}.committed", document)


class DeafDatabase:
    """A heartbeat that does not learn that its lease is lost: what the worker writes afterwards meets the fence."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    @asynccontextmanager
    async def transaction(self, _: UUID) -> AsyncIterator[Any]:
        raise DependencyUnavailable("This heartbeat is deaf.", dependency="postgres")
        yield

    async def aclose(self) -> None:
        await self._inner.aclose()


class Stepped:
    """Any port: `steps` names the step after (or, with a leading <, before) each method."""

    def __init__(self, inner: Any, gate: Gate, steps: dict[str, tuple[str, ...]]) -> None:
        self._inner = inner
        self._gate = gate
        self._steps = steps

    def __getattr__(self, method: str) -> Any:
        call = getattr(self._inner, method)
        if method not in self._steps:
            return call

        async def stepped(*arguments: Any, **options: Any) -> Any:
            for step in self._steps[method]:
                if step.startswith("<"):
                    await self._gate.at(step[1:])
            try:
                result = await call(*arguments, **options)
            except AgenticRagError as error:
                self._gate.note(step=method, refusal=error.code)
                raise
            for step in self._steps[method]:
                if not step.startswith("<"):
                    await self._gate.at(step)
            return result

        return stepped


class SteppedIngest:
    """Remembers which document the work is about."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def run(self, lease: Any, progress: Any) -> Any:
        CURRENT.set(lease.job.document_id)
        return await self._inner.run(lease, progress)


class SteppedContainer(Container):
    """The product's wiring over stepped ports."""

    def __init__(self, settings: Any, gate: Gate) -> None:
        super().__init__(settings)
        self._gate = gate

    @cached_property
    def database(self) -> Any:
        return SteppedDatabase(super().database, self._gate)

    def heartbeat_database(self) -> Any:
        inner = super().heartbeat_database()
        return DeafDatabase(inner) if "deaf" in self._gate.plant else inner

    @cached_property
    def blobs(self) -> Any:
        return Stepped(super().blobs, self._gate, {"read": ("original.read",)})

    @cached_property
    def parser(self) -> Any:
        return Stepped(super().parser, self._gate, {"parse": ("<parse.begin", "parse.done")})

    @cached_property
    def embedder(self) -> Any:
        steps = ("<embed.asked", "embed.paid")
        return Stepped(super().embedder, self._gate, {"embed": steps, "embed_with_usage": steps})

    def _neo4j(self, options: Any = None) -> Any:
        options = options or Neo4jOptions()
        seconds = float(os.environ.get("CHAOS_GRAPH_WRITE_SECONDS", options.write_seconds))
        return super()._neo4j(replace(options, write_seconds=seconds))

    @cached_property
    def graph_sync(self) -> Any:
        sync = super().graph_sync
        if sync.writer is None:
            return sync
        steps = {"apply": ("<graph.begin", "graph.applied"), "set_watermark": ("<graph.watermark", "graph.reached")}
        return replace(sync, writer=Stepped(sync.writer, self._gate, steps))

    @cached_property
    def _analysis(self) -> Any:
        return Stepped(super()._analysis, self._gate, {"chunk": ("chunk.done",), "index": ("index.done",)})

    @cached_property
    def ingest(self) -> Any:
        return SteppedIngest(super().ingest)

    @cached_property
    def queue(self) -> Any:
        return Stepped(super().queue, self._gate, {"offer": ("<handover.begin", "handover.done")})


async def main() -> None:
    gate = Gate(
        json.loads(os.environ["CHAOS_PLANS"]), Path(os.environ["CHAOS_FOLDER"]), os.environ.get("CHAOS_PLANT", "")
    )
    settings = load_settings()
    options = worker_options(settings)
    if stall := os.environ.get("CHAOS_STALL_SECONDS"):
        options = replace(options, timings=replace(options.timings, stall=float(stall)))
    if upkeep := os.environ.get("CHAOS_UPKEEP_SECONDS"):
        options = replace(options, timings=replace(options.timings, upkeep=float(upkeep)))
    container = SteppedContainer(settings, gate)
    try:
        await run_worker(container, job_handlers(container), options)
    finally:
        await container.aclose()


if __name__ == "__main__":
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main())
