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
from agentic_rag.documents.ports import StoredBlob
from agentic_rag.kernel.errors import DependencyUnavailable, LeaseLost, NotFound, Retryable

if TYPE_CHECKING:
    from obstore import UpdateVersion

PIECE = 64 * 1024
FENCE = "fence"
"""The metadata that holds the fence an object was written under."""

RACES = 8
"""How often a fenced write looks again when another writer came between."""


@dataclass(frozen=True, slots=True)
class S3Options:
    """Where the bucket is and who asks. Credentials are always given: without them the client would look for some on
    the machine's metadata service.
    """

    bucket: str
    access_key: str
    secret_key: str
    endpoint: str
    """Empty means the region's own endpoint of AWS."""
    region: str = "us-east-1"
    timeout_seconds: float = 30.0


class S3BlobStore:
    """`documents.ports.BlobStore`. An object appears when its upload is complete; one that breaks off is aborted."""

    def __init__(self, options: S3Options) -> None:
        self._bucket = options.bucket
        self._store = S3Store(
            options.bucket,
            endpoint=options.endpoint or f"https://s3.{options.region}.amazonaws.com",
            region=options.region,
            access_key_id=options.access_key,
            secret_access_key=options.secret_key,
            # Buckets as the first part of the path: what every compatible store understands.
            virtual_hosted_style_request=False,
            client_options={
                "allow_http": options.endpoint.startswith("http://"),
                "connect_timeout": timedelta(seconds=5),
                "timeout": timedelta(seconds=options.timeout_seconds),
            },
            retry_config={"max_retries": 3, "retry_timeout": timedelta(seconds=options.timeout_seconds)},
        )

    async def put(self, key: str, content: bytes, fence: int | None = None) -> None:
        """Store `content` under `key`, atomically; with a `fence`, unless a higher one was there before."""
        _check(key)
        with self._translate_errors(key):
            if fence is None:
                await obstore.put_async(self._store, key, content)
                return
            await self._put_with_fence(key, content, fence)

    async def put_stream(self, key: str, pieces: AsyncIterator[bytes]) -> StoredBlob:
        """Store what `pieces` yields under `key`; nothing stays when it fails."""
        _check(key)
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
        _check(key)
        with self._translate_errors(key):
            found = await obstore.get_async(self._store, key)
            return bytes(await found.bytes_async())

    async def stream(self, key: str) -> AsyncIterator[bytes]:
        _check(key)
        with self._translate_errors(key):
            found = await obstore.get_async(self._store, key)
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
        _check(key)
        try:
            with self._translate_errors(key):
                await obstore.head_async(self._store, key)
                await obstore.delete_async(self._store, key)
        except NotFound:
            return False
        return True

    async def keys(self, prefix: str) -> list[str]:
        if prefix:
            _check(prefix)
        found: list[str] = []
        with self._translate_errors(prefix):
            async for batch in obstore.list(self._store, prefix=prefix or None):  # pyright: ignore[reportUnknownMemberType]
                found += [one["path"] for one in batch]
        if prefix and await self._is_there(prefix):
            found.append(prefix)
        return sorted(set(found))

    async def _is_there(self, key: str) -> bool:
        try:
            with self._translate_errors(key):
                await obstore.head_async(self._store, key)
        except NotFound:
            return False
        return True

    async def _put_with_fence(self, key: str, content: bytes, fence: int) -> None:
        """Compare and swap: the store refuses the write when the object is no longer the one whose fence was read.

        It tells objects apart by their ETag, which S3 makes of the bytes alone, without the fence beside them. So a
        writer whose look came before a newer one wrote the very bytes that were there already is let through: its
        bytes, and its lower fence, take their place. Who has to exclude that too gives each attempt keys of its own,
        as snapshots do.
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
        raise Retryable(f"Blob {key} is being written by others all the time.", code="BLOB_CONTENDED")

    @contextmanager
    def _translate_errors(self, key: str) -> Generator[None]:
        try:
            yield
        except FileNotFoundError as error:
            raise NotFound(f"There is no blob {key}.") from error
        except BaseError as error:
            raise DependencyUnavailable(
                f"The object store did not serve bucket {self._bucket} ({type(error).__name__}). Check "
                "endpoint, bucket and credentials in AGENTIC_RAG_BLOB_STORE.",
                dependency="blobs",
            ) from error


def _check(key: str) -> None:
    key_parts(key)
