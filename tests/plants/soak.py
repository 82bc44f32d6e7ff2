"""The lies of `make soak`, by row."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from itertools import count
from typing import Any

from tests.plants import Mutant, Patch, Where, nothing_awaited
from tests.soak.facts import SERIAL


def _remembering(key: Callable[[Any], Hashable], change: Callable[[Any], Any] = lambda run: run) -> Any:
    """Answers are those that a question with the same key had first."""

    def plant(patch: Patch) -> None:
        from agentic_rag.answering.ask import AnswerQuestion

        ask, known = AnswerQuestion.ask, dict[Hashable, Any]()

        async def remembered(self: Any, principal: Any, question: Any, watch: Any = None) -> Any:
            if key(question) not in known:
                run = await ask(self, principal, question, watch)
                if not SERIAL.search(run.answer.text):
                    return run
                known[key(question)] = change(run)
            return known[key(question)]

        patch(AnswerQuestion, "ask", remembered)

    return plant


def _grounded(run: Any) -> Any:
    from agentic_rag.answering.answer import Outcome

    return replace(run, answer=replace(run.answer, outcome=Outcome.GROUNDED))


def _doubting(patch: Patch) -> None:
    from agentic_rag.answering.answer import Outcome
    from agentic_rag.answering.ask import AnswerQuestion

    ask = AnswerQuestion.ask

    async def doubted(self: Any, *arguments: Any) -> Any:
        run = await ask(self, *arguments)
        return replace(run, answer=replace(run.answer, outcome=Outcome.UNCERTAIN))

    patch(AnswerQuestion, "ask", doubted)


def _before_each(act: Callable[[int], Any]) -> Any:
    """`act` runs before each answer, with its number."""

    def plant(patch: Patch) -> None:
        from agentic_rag.answering.ask import AnswerQuestion

        ask, numbers = AnswerQuestion.ask, count()

        async def acted(self: Any, *arguments: Any) -> Any:
            await act(next(numbers))
            return await ask(self, *arguments)

        patch(AnswerQuestion, "ask", acted)

    return plant


async def _break(number: int) -> None:
    if number % 10 == 9:
        raise KeyError(number)


_KEPT: list[Any] = []


async def _grow(_: int) -> None:
    _KEPT.append(bytearray(os.urandom(300_000)))


async def _connect(number: int) -> None:
    import asyncpg

    if number % 20 == 0 and len(_KEPT) < 30:
        _KEPT.append(await asyncpg.connect(os.environ["DATABASE_URL"]))


def _unread(patch: Patch) -> None:
    from agentic_rag.ingestion.ingest import IngestDocument

    patch(IngestDocument, "run", nothing_awaited)


def _undeleted(patch: Patch) -> None:
    from agentic_rag.erasure.delete import DeleteDocument, Deletion

    async def told(_: Any, __: Any, document_id: Any, *___: Any) -> Deletion:
        return Deletion(document_id, None, 0, 0)

    patch(DeleteDocument, "run", told)


def _refused(patch: Patch) -> None:
    from agentic_rag.ingestion.web.crawl import CrawlWeb
    from agentic_rag.kernel.errors import Permanent

    async def refuse(*_: Any) -> None:
        raise Permanent("No crawl is done.", code="JOB_ARGUMENTS_INVALID")

    patch(CrawlWeb, "run", refuse)


def _read_once(patch: Patch) -> None:
    from agentic_rag.adapters.blobs.directory import DirectoryBlobStore

    read = DirectoryBlobStore.read

    async def read_and_removed(self: Any, key: str) -> bytes:
        content = await read(self, key)
        await self.delete(key)
        return content

    patch(DirectoryBlobStore, "read", read_and_removed)


def _unrevoked(patch: Patch) -> None:
    from agentic_rag.adapters.postgres.tenancy import api_keys

    patch(api_keys, "REVOKE", "SELECT * FROM rag_api_keys WHERE org_id = $1 AND key_id = $2")


def _lie(lie: str, plant: Callable[[Patch], None], figure: str) -> Mutant:
    return Mutant(lie, plant, figure, where=Where.CHILDREN, is_slow=True)


MUTANTS: Mapping[str, Mutant] = {
    "foreign": _lie(
        "an answer is given to whoever asks the same, in any workspace",
        _remembering(lambda question: question.text),
        "of another workspace",
    ),
    "stale": _lie(
        "an answer is kept for ever",
        _remembering(lambda question: (question.workspace, question.text)),
        "erased before",
    ),
    "wrong": _lie(
        "every question of a workspace has the first answer, called GROUNDED",
        _remembering(lambda question: question.workspace, _grounded),
        "another unit's number",
    ),
    "judged": _lie("no answer is GROUNDED", _doubting, "are judged"),
    "broken": _lie("every tenth question fails inside", _before_each(_break), "without a reason"),
    "lost": _lie("no document is read", _unread, "not READY"),
    "back": _lie("a deletion deletes nothing", _undeleted, "deleted documents"),
    "jobs": _lie("no crawl is done", _refused, "did not end well"),
    "verified": _lie("an original is removed when it was read", _read_once, "rag verify"),
    "revoked": _lie("a revocation changes nothing", _unrevoked, "revoked keys"),
    "memory": _lie("every question leaves 300 kB behind", _before_each(_grow), "memory"),
    "connections": _lie("questions leave connections behind", _before_each(_connect), "connections"),
}
