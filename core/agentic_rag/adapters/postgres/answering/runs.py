"""`answering.ports.RunStore` on Postgres."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from itertools import groupby
from operator import attrgetter
from uuid import UUID

from agentic_rag.adapters.postgres.answering.gate_log import add_decisions
from agentic_rag.adapters.postgres.answering.stored_answers import ANSWER_COLUMNS, answer_from
from agentic_rag.adapters.postgres.answering.threads import add_turns, hold_threads
from agentic_rag.adapters.postgres.session.connection import PostgresConnection, Row, value_from
from agentic_rag.adapters.postgres.session.page_cursors import decode_instant_cursor, instant_cursor, page_size
from agentic_rag.adapters.postgres.session.pool import PostgresPool
from agentic_rag.answering.run import CacheOutcome, EncodedAnswer, Run, RunVersions, StageRecord
from agentic_rag.answering.runs.redaction import collect_document_ids, redact_erased_documents, unreadable_answer
from agentic_rag.answering.runs.run_filter import ALL_RUNS, RunFilter
from agentic_rag.kernel.errors import IdempotencyConflict, Permanent
from agentic_rag.kernel.pagination import Page, PageRequest
from agentic_rag.tenancy.principals import WorkspaceRef

# Written after the response: losing the last fraction of a second in a crash is cheaper than 4 ms of waiting for the
# disk.
NOT_DURABLE = "SET LOCAL synchronous_commit = off"

# An erasure redacts the runs it finds. Its exclusive lock (`erasure_sql.LOCK_RUNS`) waits for transactions that store
# runs, which are brief even where their process is stopped; a later one waits for the erasure and then sees the
# tombstone.
SHARE_RUNS = """
SELECT pg_advisory_xact_lock_shared(hashtextextended(workspace_id::text, 1))
FROM unnest($1::uuid[]) AS w(workspace_id)
"""

ERASED = """
SELECT t.workspace_id, t.document_id
FROM unnest($2::uuid[], $3::uuid[]) AS cited(workspace_id, document_id)
JOIN rag_tombstones t
  ON t.org_id = $1 AND t.workspace_id = cited.workspace_id AND t.document_id = cited.document_id
"""

_COLUMNS = f"""
    run_id, trace_id, subject, question, outcome, cache, seconds, corpus_version, graph_version, space, weights_version,
    pipeline_version, models, {ANSWER_COLUMNS}, idempotency_key, input_hash, created_at, turns,
    (SELECT t.thread_id FROM rag_thread_turns t
     WHERE t.org_id = rag_runs.org_id AND t.workspace_id = rag_runs.workspace_id AND t.run_id = rag_runs.run_id
    ) AS thread
"""  # noqa: S608 - a constant list of columns

ADD_RUN = """
INSERT INTO rag_runs (org_id, workspace_id, run_id, trace_id, subject, question, outcome, cache, seconds,
                      corpus_version, graph_version, space, weights_version, pipeline_version, models, document_ids,
                      stored_answer, idempotency_key, input_hash, created_at, turns)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)
ON CONFLICT DO NOTHING
"""

# Skips stages of runs that were not inserted because their idempotency key exists.
ADD_STAGES = """
INSERT INTO rag_run_stages (org_id, workspace_id, run_id, position, stage, started, seconds, outcome)
SELECT $1, s.workspace_id, s.run_id, s.position, s.stage, s.started, s.seconds, s.outcome
FROM unnest($2::uuid[], $3::uuid[], $4::integer[], $5::text[], $6::float8[], $7::float8[], $8::text[])
    AS s(workspace_id, run_id, position, stage, started, seconds, outcome)
JOIN rag_runs r ON r.org_id = $1 AND r.workspace_id = s.workspace_id AND r.run_id = s.run_id
ON CONFLICT DO NOTHING
"""

INPUT_OF_KEY = """
SELECT input_hash FROM rag_runs WHERE org_id = $1 AND workspace_id = $2 AND idempotency_key = $3
"""

GET = f"""
SELECT {_COLUMNS} FROM rag_runs
WHERE org_id = $1 AND workspace_id = $2 AND run_id = $3 AND ($4::text IS NULL OR subject = $4)
"""  # noqa: S608 - a constant list of columns

BY_KEY = f"""
SELECT {_COLUMNS} FROM rag_runs WHERE org_id = $1 AND workspace_id = $2 AND idempotency_key = $3
"""  # noqa: S608 - a constant list of columns

_WANTED = """
  ($3::text IS NULL OR subject = $3) AND ($4 = '' OR strpos(lower(question), lower($4)) > 0)
  AND ($5::text[] IS NULL OR outcome = ANY ($5))
  AND ($6::timestamptz IS NULL OR created_at >= $6) AND ($7::timestamptz IS NULL OR created_at < $7)
  AND ($8::uuid IS NULL OR run_id = ANY (ARRAY (
      SELECT t.run_id FROM rag_thread_turns t WHERE t.org_id = $1 AND t.workspace_id = $2 AND t.thread_id = $8
  )))
"""

PAGE = f"""
SELECT {_COLUMNS} FROM rag_runs
WHERE org_id = $1 AND workspace_id = $2 AND {_WANTED}
  AND ($9::timestamptz IS NULL OR (created_at, run_id) < ($9, $10::uuid))
ORDER BY created_at DESC, run_id DESC
LIMIT $11
"""  # noqa: S608 - constant columns and conditions

COUNT = f"""
SELECT count(*) FROM rag_runs WHERE org_id = $1 AND workspace_id = $2 AND {_WANTED}
"""  # noqa: S608 - constant conditions

STAGES = """
SELECT run_id, stage, started, seconds, outcome FROM rag_run_stages
WHERE org_id = $1 AND workspace_id = $2 AND run_id = ANY ($3::uuid[])
ORDER BY run_id, position
"""

# In the order of the columns of `ADD_RUN` and `ADD_STAGES`. `astuple` would copy each value deeply.
_VERSIONS = attrgetter(*(one.name for one in fields(RunVersions)))
_STAGE = attrgetter(*(one.name for one in fields(StageRecord)))
_NUMBER = attrgetter("int")
"""Orders ids as they order themselves, in C."""

_ReadRun = Callable[[WorkspaceRef, Row, list[StageRecord]], Run]


class PostgresRunStore:
    """Opens its own transactions. `deploy` is stored with the decisions of the gate."""

    def __init__(self, pool: PostgresPool, deploy: str = "") -> None:
        self._pool = pool
        self._deploy = deploy

    async def record(self, runs: Sequence[Run], *, durable: bool = False) -> None:
        ordered = sorted(runs, key=lambda run: run.workspace.org_id)
        for org_id, members in groupby(ordered, key=lambda run: run.workspace.org_id):
            group = list(members)
            answers = [run.encoded_answer() for run in group]
            # Beside the event loop, and before the transaction has locks; not one alone, which is waited for.
            if sum(not one.is_packed for one in answers) > 1:
                await asyncio.to_thread(_pack, answers)
            async with self._pool.transaction(
                org_id, settings="" if durable else NOT_DURABLE, is_brief=True
            ) as connection:
                await self._record(connection, org_id, group, answers)

    async def get(self, workspace: WorkspaceRef, run_id: UUID, subject: str | None = None) -> Run | None:
        return await self._one(GET, workspace, run_id, subject)

    async def by_idempotency_key(self, workspace: WorkspaceRef, key: str) -> Run | None:
        return await self._one(BY_KEY, workspace, key)

    async def page(self, workspace: WorkspaceRef, request: PageRequest, wanted: RunFilter = ALL_RUNS) -> Page[Run]:
        """Runs that the filter admits, newest first. Errors: `InvalidInput` (cursor, size)."""
        size = page_size(request)
        after = decode_instant_cursor(request.after)
        async with self._pool.transaction(workspace.org_id) as connection:
            rows = await connection.fetch(PAGE, *workspace.key, *_conditions(wanted), *after, size + 1)
            runs = await self._runs(connection, workspace, rows[:size], _listed_run)
        cursors = tuple(instant_cursor(run.created_at, run.run_id) for run in runs)
        return Page(tuple(runs), cursors, len(rows) > size)

    async def count(self, workspace: WorkspaceRef, wanted: RunFilter = ALL_RUNS) -> int:
        """How many runs the filter admits."""
        async with self._pool.transaction(workspace.org_id) as connection:
            return await connection.fetchval(COUNT, *workspace.key, *_conditions(wanted))

    async def _record(
        self, connection: PostgresConnection, org_id: UUID, runs: list[Run], answers: Iterable[EncodedAnswer]
    ) -> None:
        """`answers`: of all the runs."""
        packed = {id(one.answer): one.pack() for one in answers}
        runs = await hold_threads(connection, org_id, runs)
        named = [collect_document_ids(run.answer) for run in runs]
        redacted = await _redact_erasures(connection, org_id, runs, named)
        await connection.executemany(
            ADD_RUN,
            [
                _row(after, ids, packed[id(after.answer)])
                if after is before
                else _row(after, collect_document_ids(after.answer), after.encoded_answer().pack())
                for before, after, ids in zip(runs, redacted, named, strict=True)
            ],
        )
        runs = redacted
        for run in runs:
            if run.idempotency_key is not None:
                key = (org_id, run.workspace.workspace_id, run.idempotency_key)
                if await connection.fetchval(INPUT_OF_KEY, *key) != run.input_hash:
                    raise IdempotencyConflict("The idempotency key was used before with another input.")
        stages = list(_stage_rows(runs))
        if stages:
            await connection.execute(ADD_STAGES, org_id, *[list(column) for column in zip(*stages, strict=True)])
        await add_turns(connection, runs)
        await add_decisions(connection, org_id, runs, self._deploy)

    async def _one(self, statement: str, workspace: WorkspaceRef, *key: UUID | str | None) -> Run | None:
        async with self._pool.transaction(workspace.org_id) as connection:
            rows = await connection.fetch(statement, *workspace.key, *key)
            runs = await self._runs(connection, workspace, rows)
        return runs[0] if runs else None

    async def _runs(
        self, connection: PostgresConnection, workspace: WorkspaceRef, rows: Sequence[Row], read: _ReadRun | None = None
    ) -> list[Run]:
        if not rows:
            return []
        stages: dict[UUID, list[StageRecord]] = {row["run_id"]: [] for row in rows}
        for row in await connection.fetch(STAGES, *workspace.key, list(stages)):
            stages[row["run_id"]].append(value_from(StageRecord, row))
        return [(read or _run)(workspace, row, stages[row["run_id"]]) for row in rows]


def _run(workspace: WorkspaceRef, row: Row, stages: list[StageRecord]) -> Run:
    """Errors: `Permanent` code RUN_UNREADABLE."""
    try:
        versions = value_from(RunVersions, row)
        return value_from(Run, row, workspace=workspace, versions=versions, answer=answer_from(row), stages=stages)
    except ValueError as error:
        raise Permanent(
            f"Run {row['run_id']} was stored by another version of the product: {error}.", code="RUN_UNREADABLE"
        ) from error


def _listed_run(workspace: WorkspaceRef, row: Row, stages: list[StageRecord]) -> Run:
    """A run of a list. One that cannot be read stands there without its answer, so that the others are seen."""
    try:
        return _run(workspace, row, stages)
    except Permanent:
        answer, cache = unreadable_answer(row["outcome"]), CacheOutcome.BYPASS
        versions = value_from(RunVersions, row)
        return value_from(Run, row, workspace=workspace, versions=versions, answer=answer, cache=cache, stages=stages)


def _pack(answers: Iterable[EncodedAnswer]) -> None:
    for one in answers:
        one.pack()


def _row(run: Run, named: Iterable[UUID], stored: bytes) -> tuple[object, ...]:
    """The parameters of `ADD_RUN`."""
    return (
        *run.workspace.key,
        run.run_id,
        run.trace_id,
        run.subject,
        run.question,
        run.answer.outcome.value,
        run.cache.value,
        run.seconds,
        *_VERSIONS(run.versions),
        sorted(named, key=_NUMBER),
        stored,
        run.idempotency_key,
        run.input_hash,
        run.created_at,
        run.turns,
    )


def _conditions(wanted: RunFilter) -> tuple[object, ...]:
    """The parameters of `_WANTED`."""
    outcomes = sorted(one.value for one in wanted.outcomes)
    return wanted.subject, wanted.words, outcomes or None, wanted.since, wanted.before, wanted.thread


async def _redact_erasures(
    connection: PostgresConnection, org_id: UUID, runs: list[Run], named: Sequence[frozenset[UUID]]
) -> list[Run]:
    """Redact in the runs the documents erased while they ran, of those that each names. Blocks erasures until the
    transaction ends.
    """
    cited: dict[UUID, set[UUID]] = {}
    for run, ids in zip(runs, named, strict=True):
        cited.setdefault(run.workspace.workspace_id, set()).update(ids)
    pairs = [(workspace_id, one) for workspace_id, ids in cited.items() for one in ids]
    if not pairs:
        return runs
    await connection.execute(SHARE_RUNS, sorted({workspace_id for workspace_id, _ in pairs}))
    workspace_ids, document_ids = zip(*pairs, strict=True)
    erased: dict[UUID, set[UUID]] = {}
    for row in await connection.fetch(ERASED, org_id, workspace_ids, document_ids):
        erased.setdefault(row["workspace_id"], set()).add(row["document_id"])
    if not erased:
        return runs
    return [redact_erased_documents(run, erased.get(run.workspace.workspace_id, ())) for run in runs]


def _stage_rows(runs: Iterable[Run]) -> Iterable[tuple[object, ...]]:
    for run in runs:
        for position, stage in enumerate(run.stages):
            yield run.workspace.workspace_id, run.run_id, position, *_STAGE(stage)
