"""The product with its own tenant predicates taken out: `python -m tests.security.mutant serve` (or `worker`).

What is left is the second wall: the policies of the database, and for what is kept outside of it that each value says
whose it is. Every statement that was changed is noted, once, in the file that MUTANT_NOTES names, with the arguments of
its first use: whoever reads the notes can prove that the change matters. With MUTANT_WITHOUT_POLICIES the pool keeps
its login, a superuser whom no policy binds: then nothing is left, and what finds no leak there finds none anywhere.
"""

from __future__ import annotations

import os
import pickle
import re
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar
from uuid import UUID

from agentic_rag.adapters.postgres.retrieval import segments
from agentic_rag.adapters.postgres.session.connection import PostgresConnection
from agentic_rag.adapters.postgres.session.pool import PoolOptions, PostgresPool
from agentic_rag.adapters.redis.cache import RedisAnswerCache
from agentic_rag.answering import ask as answer
from agentic_rag.answering.runs.record import RunRecorder
from agentic_rag.kernel.concurrency import SingleFlight
from agentic_rag.tenancy.principals import WorkspaceRef

NOTES = "MUTANT_NOTES"
WITHOUT_POLICIES = "MUTANT_WITHOUT_POLICIES"
NOBODY = WorkspaceRef(UUID(int=0), UUID(int=0))

_PREDICATE = re.compile(r"\b(?:\w+\.)?(?:org_id|workspace_id) = (\$\d+)(?!\d)")
_FUNCTION_PREDICATE = re.compile(r"\b(?:\w+\.)?(?:org_id = org|workspace_id = workspace)\b(?!\.)")

MUTATED_FUNCTIONS = (
    "rag_corpus_version",
    "rag_cached_answer",
    "rag_corpus_head",
    "rag_newest_access_set",
    "rag_access_sets_above",
)
"""What the application asks as the owner of the tables, whom no policy binds: the predicate is inside."""


def without_tenant(statement: str) -> str:
    """The statement with every comparison of an organisation or a workspace made true; parameters keep their types."""
    return _PREDICATE.sub(r"\1::uuid IS NOT NULL", statement)


def function_without_tenant(definition: str) -> str:
    """A function's definition with its first comparison of a tenant made true: of a cached answer both, of a workspace
    the organisation (without its id it would be every workspace at once).
    """
    if "rag_cached_answer" in definition:
        return _FUNCTION_PREDICATE.sub("true", definition).replace("expires_at > now()", "expires_at > now() LIMIT 1")
    return re.sub(r"\b(?:\w+\.)?org_id = org\b", "true", definition)


@dataclass(frozen=True)
class Note:
    """A statement that was changed, and the arguments it was first run with."""

    original: str
    mutated: str
    arguments: tuple[Any, ...]


def read_notes(path: Path) -> list[Note]:
    """Every note of a process, each statement once; none of a process that ran no such statement."""
    return list({note.original: note for note in _notes(path)}.values()) if path.exists() else []


def _notes(path: Path) -> Iterator[Note]:
    with path.open("rb") as file:
        while True:
            try:
                yield Note(*pickle.load(file))
            except EOFError:
                return


class Unbound:
    """A driver connection that runs statements without their tenant predicates."""

    seen: ClassVar[set[str]] = set()

    def __init__(self, driver: Any) -> None:
        self._driver = driver

    async def fetch(self, query: str, *arguments: Any) -> Any:
        return await self._driver.fetch(self._mutated(query, arguments), *arguments)

    async def fetchrow(self, query: str, *arguments: Any) -> Any:
        return await self._driver.fetchrow(self._mutated(query, arguments), *arguments)

    async def fetchval(self, query: str, *arguments: Any) -> Any:
        return await self._driver.fetchval(self._mutated(query, arguments), *arguments)

    async def execute(self, query: str, *arguments: Any) -> Any:
        return await self._driver.execute(self._mutated(query, arguments), *arguments)

    async def executemany(self, query: str, rows: Sequence[Sequence[Any]]) -> None:
        await self._driver.executemany(self._mutated(query, ()), rows)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._driver, name)

    def _mutated(self, query: str, arguments: tuple[Any, ...]) -> str:
        mutated = without_tenant(query)
        if mutated != query and query not in self.seen:
            self.seen.add(query)
            _note(Note(query, mutated, arguments))
        return mutated


def _note(note: Note) -> None:
    plain = tuple(UUID(str(one)) if isinstance(one, UUID) else one for one in note.arguments)
    with Path(os.environ[NOTES]).open("ab") as file:
        pickle.dump((note.original, note.mutated, plain), file)


class TenantlessDict(OrderedDict[Any, Any]):
    """Takes keys of (workspace, key) and looks at the second only."""

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__((NOBODY, key[1]), value)

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__((NOBODY, key[1]))

    def get(self, key: Any, default: Any = None) -> Any:
        return super().get((NOBODY, key[1]), default)

    def pop(self, key: Any, default: Any = None) -> Any:
        return super().pop((NOBODY, key[1]), default)


class TenantlessCache:
    """A cache of segments whose keys begin with a workspace, which it does not look at."""

    def __init__(self, cache: Any) -> None:
        self._cache = cache

    def get(self, key: Any) -> Any:
        return self._cache.get(key[1:])

    def put(self, key: Any, value: Any, size: int) -> None:
        self._cache.put(key[1:], value, size)

    def drop(self, _is_meant: Any) -> None:
        self._cache.drop(lambda _: True)


def mutate_statements() -> None:
    """Between the adapters and the driver."""

    def joined(self: PostgresPool, driver: Any) -> PostgresConnection:
        return PostgresConnection(Unbound(driver), self._pulse, self._options.silent_seconds)

    PostgresPool._wrap_driver = joined


def mutate_caches() -> None:
    """The tenant out of the keys of what is kept in Redis and in memory."""
    key_of = answer.answer_key
    answer.answer_key = lambda question, context: key_of(
        replace(question, asked=replace(question.asked, workspace=NOBODY)), context
    )

    index = RedisAnswerCache._index
    RedisAnswerCache._index = lambda self, workspace: index(self, NOBODY)

    made = RunRecorder.__init__

    def init(self: RunRecorder, *arguments: Any, **options: Any) -> None:
        made(self, *arguments, **options)
        self._waiting, self._fills = TenantlessDict(), TenantlessDict()

    RunRecorder.__init__ = init

    fly = SingleFlight.run

    async def run(self: Any, key: Any, work: Any) -> Any:
        return await fly(self, key[1:], work)

    SingleFlight.run = run

    cached = segments.SegmentCache.__init__

    def cache(self: Any, *arguments: Any) -> None:
        cached(self, *arguments)
        self.segments, self.visible = TenantlessCache(self.segments), TenantlessCache(self.visible)

    segments.SegmentCache.__init__ = cache


def leave_policies() -> None:
    """The pool acts as its login."""
    made = PostgresPool.__init__

    def init(self: PostgresPool, dsn: str, options: PoolOptions | None = None, *more: Any) -> None:
        made(self, dsn, replace(options or PoolOptions(), role=None), *more)

    PostgresPool.__init__ = init


def main() -> None:
    mutate_statements()
    mutate_caches()
    if os.environ.get(WITHOUT_POLICIES):
        leave_policies()
    from agentic_rag_cli.main import main as rag

    rag()


if __name__ == "__main__":
    main()
