"""Sends the files of a source to a server: only those that it does not have."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agentic_rag.documents.document import DocumentStatus
from agentic_rag.ingestion.hand_over import UNREADABLE_WHEN_READ
from agentic_rag.ingestion.sources.pushed import require_sent_path
from agentic_rag.ingestion.sources.source import UnreadableItem
from agentic_rag.ingestion.sync import SyncOptions, SyncResult
from agentic_rag.kernel.errors import (
    DependencyUnavailable,
    InvalidInput,
    NotFound,
    PolicyRefused,
    Retryable,
    UploadTooLarge,
)
from agentic_rag.kernel.public_ids import decode
from agentic_rag_cli.client import operator_queries as queries
from agentic_rag_cli.client.graphql_client import LONG_SECONDS, GraphQLClient
from agentic_rag_cli.options import metadata_input

if TYPE_CHECKING:
    from agentic_rag.ingestion.ports import SourceConnector, SourceItem

AT_ONCE = 4
"""Files that are sent side by side."""

MOST_ROUNDS = 3
"""Times that what is awaited is sent; more than one where files change meanwhile."""

MOST_TRIES = 20
"""Times that a request is sent which the server asks to send later."""

NAME_UNUSABLE = "SOURCE_NAME_UNUSABLE"


@dataclass
class Push:
    """One synchronisation of a workspace of a server with a source that this process reads."""

    client: GraphQLClient
    workspace_id: str
    source: SourceConnector
    options: SyncOptions
    progress: Callable[[int, int, str], None] = lambda *_: None
    _lines: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    """The listing, by path."""
    _unreadable: list[UnreadableItem] = field(default_factory=list[UnreadableItem])
    _told: list[Mapping[str, Any]] = field(default_factory=list[Mapping[str, Any]])
    """What the server said of each file that was sent."""

    async def run(self) -> SyncResult:
        """Synchronise; a later run goes on where one broke off. Errors: those of the source and of the client;
        `Retryable` code SOURCE_CHANGING.
        """
        found = await self.source.changes(frozenset(), None)
        items = {} if found is None else {item.path: item for item in found.upserted}
        self._unreadable = [] if found is None else [*found.unreadable]
        for place, item in enumerate(items.values()):
            self.progress(place, len(items), item.path)
            await self._list(item)
        looks = [await self._compare()]
        while looks[-1]["awaited"] and len(looks) <= MOST_ROUNDS:
            await self._send([items[path] for path in looks[-1]["awaited"]])
            looks.append(await self._compare())
        if looks[-1]["awaited"]:
            raise Retryable(
                f"{len(looks[-1]['awaited'])} files changed each time that they were sent, and nothing was hidden. "
                "Does another run send the same folder? Run it again.",
                code="SOURCE_CHANGING",
            )
        return self._result(looks)

    async def _list(self, item: SourceItem) -> bytes | None:
        """Read an item into the listing: its bytes, or None where it cannot be read."""
        self._lines.pop(item.path, None)
        try:
            _require_path(item.path)
            content = await self.source.read(item)
        except NotFound:
            return None  # Gone since it was listed.
        except (DependencyUnavailable, Retryable, InvalidInput, PolicyRefused) as error:
            code = UNREADABLE_WHEN_READ if error.code == DependencyUnavailable.code else error.code
            self._unreadable.append(UnreadableItem(item.path, code, error.message))
            return None
        data = b"" if content is None else content.data
        digest = (await asyncio.to_thread(hashlib.sha256, data)).hexdigest()
        self._lines[item.path] = {"path": item.path, "sha256": digest, "size": len(data)}
        if item.readable_by is not None:
            self._lines[item.path]["readableBy"] = list(item.readable_by) or ["everyone"]
        return data

    async def _compare(self) -> Mapping[str, Any]:
        """Tell the server what there is."""
        options = self.options
        lines = [*self._lines.values()]
        lines += [{"path": one.path, "code": one.code, "message": one.message} for one in self._unreadable]
        listing = "\n".join(json.dumps(one) for one in lines).encode()
        return await patiently(
            lambda: self.client.send_file(
                queries.PUSH_LISTING,
                listing,
                LONG_SECONDS,
                input=self._input(),
                metadata=metadata_input(options.metadata),
                deleteMissing=options.delete_missing,
                dryRun=options.dry_run,
            )
        )

    async def _send(self, items: Sequence[SourceItem]) -> None:
        """Send files, several side by side. One that is refused does not stop the others."""
        left, sent = iter(items), 0

        async def send_one_by_one() -> None:
            nonlocal sent
            for item in left:
                await self._send_file(item)
                sent += 1
                self.progress(sent, len(items), item.path)

        senders = [asyncio.ensure_future(send_one_by_one()) for _ in range(AT_ONCE)]
        try:
            await asyncio.gather(*senders)
        finally:
            for one in senders:
                one.cancel()
            await asyncio.gather(*senders, return_exceptions=True)

    async def _send_file(self, item: SourceItem) -> None:
        data = await self._list(item)
        if data is None:
            return
        named = self._lines[item.path].get("readableBy")
        try:
            told = await patiently(
                lambda: self.client.send_file(
                    queries.PUSH_FILE, data, LONG_SECONDS, input=self._input(), path=item.path, namedReaders=named
                )
            )
        except UploadTooLarge as error:
            del self._lines[item.path]
            self._unreadable.append(UnreadableItem(item.path, error.code, error.message))
        else:
            self._told.append(told)

    def _input(self) -> dict[str, Any]:
        return {
            "workspaceId": self.workspace_id,
            "source": self.source.source_id,
            "readableBy": list(self.options.readable_by),
            "leaveOthers": self.options.keeps_off,
            "formerly": list(self.options.formerly),
        }

    def _result(self, looks: Sequence[Mapping[str, Any]]) -> SyncResult:
        """What all looks and files together came to."""
        first, last, every = looks[0], looks[-1], [*looks, *self._told]
        started = [first, *self._told]
        return SyncResult(
            new=_paths(every, "new"),
            changed=_paths(every, "changed"),
            unchanged=sum(one["unchanged"] for one in started),
            in_progress=sum(one["inProgress"] for one in started),
            deleted=tuple(last["deleted"]),
            unreadable=tuple(UnreadableItem(**one) for one in last["unreadable"]),
            waiting_for=tuple(decode(one).key for one in _paths(every, "waitingFor")),
            dry_run=self.options.dry_run,
            hidden=tuple(last["hidden"]),
            returned=_paths(every, "returned"),
            moved=_paths(every, "moved"),
        )


async def pushed_documents(client: GraphQLClient, workspace_id: str, source_id: str) -> dict[DocumentStatus, int]:
    """The documents of a source by status; those that are being ingested count as PENDING."""
    found = await client.fetch(queries.PUSHED_DOCUMENTS, workspaceId=workspace_id, source=source_id)
    return {
        DocumentStatus.READY: found["ready"],
        DocumentStatus.PENDING: found["pending"],
        DocumentStatus.FAILED: found["failed"],
    }


def _paths(every: Collection[Mapping[str, Any]], name: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(path for one in every for path in one[name]))


def _require_path(path: str) -> None:
    """Errors: `InvalidInput` code SOURCE_NAME_UNUSABLE."""
    try:
        require_sent_path(path)
    except InvalidInput as error:
        raise InvalidInput("No document can have such a path; rename the file.", code=NAME_UNUSABLE) from error


async def patiently(ask: Callable[[], Awaitable[Any]]) -> Any:
    """The answer to a request that is sent again when the server says after how many seconds."""
    for _ in range(MOST_TRIES):
        try:
            return await ask()
        except Retryable as error:
            if error.retry_after_seconds is None:
                raise
            await asyncio.sleep(error.retry_after_seconds)
    return await ask()
