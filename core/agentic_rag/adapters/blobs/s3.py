"""Original bytes in a bucket of an S3-compatible store."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, PreconditionError
from obstore.store import S3Store

from agentic_rag.adapters.blobs.keys import key_parts
from agentic_rag.adapters.blobs.s3_client import client_options, endpoint_of, login
from agentic_rag.documents.ports import StoredBlob
from agentic_rag.kernel.errors import DependencyUnavailable, LeaseLost, NotFound, Retryable
from agentic_rag.web.proxies import DIRECT, Proxies

if TYPE_CHECKING:
    from obstore import GetOptions, UpdateVersion

PIECE = 64 * 1024
FENCE = "fence"
"""The metadata field with an object's fence."""

RACES = 8
"""Attempts of a fenced write when other writers interfere."""


@dataclass(frozen=True, slots=True)
class S3Options:
    """The bucket and its credentials. Credentials are mandatory: without them the client would query the machine's
    metadata service.
    """

    bucket: str
    access_key: str
    secret_key: str
    endpoint: str
    """Empty means AWS's endpoint of the region."""
    region: str = "us-east-1"
    timeout_seconds: float = 30.0
    folder: str = ""
    """Keys are below it; empty for the whole bucket."""


class S3BlobStore:
    """`documents.ports.BlobStore`. An object appears when its upload is complete; an interrupted upload is aborted."""

    def __init__(self, options: S3Options, proxies: Proxies = DIRECT) -> None:
        self._bucket = options.bucket
        endpoint = endpoint_of(options.endpoint, options.region)
        self._store = S3Store(
            options.bucket,
            prefix=options.folder or None,
            endpoint=endpoint,
            region=options.region,
            skip_signature=False,
            credential_provider=login(options.access_key, options.secret_key),
            # Path-style addresses: every compatible store supports them.
            virtual_hosted_style_request=False,
            client_options=client_options(endpoint, proxies, options.timeout_seconds),
            retry_config={"max_retries": 3, "retry_timeout": timedelta(seconds=options.timeout_seconds)},
        )

    async def put(self, key: str, content: bytes, fence: int | None = None) -> None:
        """Store `content` under `key` atomically. With a `fence`, fails if a higher one was used before."""
        key_parts(key)
        with self._translate_errors(key):
            if fence is None:
                await obstore.put_async(self._store, key, content)
                return
            await self._put_with_fence(key, content, fence)

    async def put_stream(self, key: str, pieces: AsyncIterator[bytes]) -> StoredBlob:
        """Store the bytes of `pieces` under `key`; a failure leaves nothing."""
        key_parts(key)
        digest = hashlib.sha256()
        size = 0

        async def count_bytes() -> AsyncIterator[bytes]:
            nonlocal size
            async for piece in pieces:
                digest.update(piece)
                size += len(piece)
                yield piece

        with self._translate_errors(key):
            await obstore.put_async(self._store, key, count_bytes())
        return StoredBlob(size, digest.digest())

    async def read(self, key: str) -> bytes:
        key_parts(key)
        with self._translate_errors(key):
            found = await obstore.get_async(self._store, key)
            return bytes(await found.bytes_async())

    async def stream(self, key: str, part: range | None = None) -> AsyncIterator[bytes]:
        key_parts(key)
        options: GetOptions = {"range": (part.start, part.stop)} if part else {}
        with self._translate_errors(key):
            found = await obstore.get_async(self._store, key, options=options)
        chunks = aiter(found.stream(min_chunk_size=PIECE))
        held = b""
        while True:
            with self._translate_errors(key):
                chunk = await anext(chunks, None)
            held += b"" if chunk is None else bytes(chunk)
            whole = len(held) if chunk is None else len(held) - len(held) % PIECE
            for start in range(0, whole, PIECE):
                yield held[start : min(start + PIECE, whole)]
            held = held[whole:]
            if chunk is None:
                return

    async def delete(self, key: str) -> bool:
        key_parts(key)
        try:
            with self._translate_errors(key):
                await obstore.head_async(self._store, key)
                await obstore.delete_async(self._store, key)
        except NotFound:
            return False
        return True

    async def keys(self, prefix: str) -> list[str]:
        if prefix:
            key_parts(prefix)
        found: list[str] = []
        with self._translate_errors(prefix):
            async for batch in obstore.list(self._store, prefix=prefix or None):  # pyright: ignore[reportUnknownMemberType]
                found += [one["path"] for one in batch]
        if prefix and await self._is_there(prefix):
            found.append(prefix)
        return sorted(set(found))

    async def has_folder(self, prefix: str) -> bool:
        return True

    async def _is_there(self, key: str) -> bool:
        try:
            with self._translate_errors(key):
                await obstore.head_async(self._store, key)
        except NotFound:
            return False
        return True

    async def _put_with_fence(self, key: str, content: bytes, fence: int) -> None:
        """Compare and swap: the store refuses the write if the object changed since its fence was read.

        It identifies objects by ETag, which S3 derives from the bytes alone, without the fence. A stale writer
        therefore succeeds if a newer one, after the stale writer's read, wrote exactly the bytes that were there
        before: the stale bytes and the lower fence replace them. Callers that must exclude this use separate keys per
        attempt, as snapshots do.
        """
        attributes = {FENCE: str(fence)}
        for _ in range(RACES):
            try:
                found = await obstore.get_async(self._store, key, options={"head": True})
            except FileNotFoundError:
                found = None
            if found is not None and fence < int(found.attributes.get(FENCE, "0")):
                raise LeaseLost("A newer holder of the job has written this blob: stop, change nothing.")
            try:
                if found is None:
                    await obstore.put_async(self._store, key, content, attributes=attributes, mode="create")
                else:
                    seen: UpdateVersion = {"e_tag": found.meta["e_tag"] or ""}
                    await obstore.put_async(self._store, key, content, attributes=attributes, mode=seen)
            except (AlreadyExistsError, PreconditionError):
                continue
            return
        raise Retryable(f"Blob {key} keeps being written by other processes; try again.", code="BLOB_CONTENDED")

    @contextmanager
    def _translate_errors(self, key: str) -> Generator[None]:
        try:
            yield
        except FileNotFoundError as error:
            raise NotFound(f"There is no blob {key}.") from error
        except BaseError as error:
            raise DependencyUnavailable(
                f"The object store did not serve bucket {self._bucket} ({type(error).__name__}). Check "
                "endpoint, bucket and credentials of its address (AGENTIC_RAG_BLOB_STORE, or the place of a backup).",
                dependency="blobs",
            ) from error
