"""A bucket of an S3-compatible store as a source of documents."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

from agentic_rag.adapters.blobs.s3_client import client_options, endpoint_of, login
from agentic_rag.ingestion.ports import Changes, SourceConnector, SourceContent, SourceItem
from agentic_rag.ingestion.sources.listing import HIDDEN, changes_of, is_hidden, require_few
from agentic_rag.ingestion.sources.source import NewSource, UnreadableItem
from agentic_rag.kernel.errors import DependencyUnavailable, InvalidInput, NotFound
from agentic_rag.kernel.secret import Secret
from agentic_rag.web.proxies import DIRECT, Proxies

if TYPE_CHECKING:
    from obstore.store import S3Store

MAX_BYTES = 256 * 1024 * 1024
DEFAULT_REGION = "us-east-1"
CALL_SECONDS = 60

_REGION = re.compile(r"[a-z0-9-]{1,40}")
_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_KEY_REFUSED = re.compile(
    r"<Code>(?:ExpiredToken|InvalidAccessKeyId|SignatureDoesNotMatch|InvalidToken|TokenRefreshRequired|AccessDenied)<"
)
_NO_BUCKET = re.compile(r"<Code>(?:NoSuchBucket|PermanentRedirect)<")
"""What the store answers where there is no bucket of the name, or only in another region."""


@asynccontextmanager
async def open_s3(
    stated: NewSource, secret: Secret | None, proxies: Proxies = DIRECT
) -> AsyncGenerator[SourceConnector]:
    """A bucket. Without an endpoint it is asked at AWS; another endpoint is one that an operator named. The credential
    is `ACCESS_KEY:SECRET_KEY`; without one the bucket is read as anybody may. Errors: `InvalidInput`.
    """
    from obstore.store import S3Store

    bucket, _, prefix = stated.location.removeprefix("s3://").partition("/")
    region = stated.options.get("region", DEFAULT_REGION)
    if _BUCKET.fullmatch(bucket) is None or _REGION.fullmatch(region) is None:
        raise InvalidInput("The location is `BUCKET` or `BUCKET/PREFIX`.", code="SOURCE_INVALID", path=("source",))
    shown = None
    if secret is not None:
        access_key, colon, secret_key = secret.reveal().partition(":")
        if not colon:
            raise _key_error("The credential of a bucket is `ACCESS_KEY:SECRET_KEY`.")
        shown = login(access_key, secret_key)
    endpoint = endpoint_of(stated.options.get("endpoint", ""), region)
    store = S3Store(
        bucket,
        endpoint=endpoint,
        region=region,
        virtual_hosted_style_request=False,
        client_options=client_options(endpoint, proxies, CALL_SECONDS),
        retry_config={"max_retries": 2, "retry_timeout": timedelta(seconds=CALL_SECONDS)},
        skip_signature=shown is None,
        credential_provider=shown,
    )
    yield S3Source(store, bucket, f"{prefix.strip('/')}/" if prefix.strip("/") else "")


class S3Source:
    """Implements `ingestion.ports.SourceConnector` over the keys below a prefix. Fingerprints are entity tags."""

    def __init__(self, store: S3Store, bucket: str, prefix: str) -> None:
        self._store = store
        self._bucket = bucket
        self._prefix = prefix

    @property
    def source_id(self) -> str:
        """`s3:`, the bucket and the prefix."""
        return f"s3:{self._bucket}/{self._prefix}"

    async def changes(self, known: frozenset[str], cursor: str | None) -> Changes:
        """Every key below the prefix."""
        import obstore

        items: list[SourceItem] = []
        unreadable: list[UnreadableItem] = []
        with self._translate_errors("the bucket"):
            async for batch in obstore.list(self._store, prefix=self._prefix or None):  # pyright: ignore[reportUnknownMemberType]
                for one in batch:
                    path = one["path"].removeprefix(self._prefix)
                    found = _entry(path, one["size"], one["e_tag"] or f"{one['size']}:{one['last_modified']}")
                    if isinstance(found, SourceItem):
                        items.append(found)
                    elif found is not None:
                        unreadable.append(found)
                require_few(len(items))
        return changes_of(known, items, unreadable, "")

    async def read(self, item: SourceItem, known: str | None = None) -> SourceContent | None:
        """The object's bytes; None when its tag is `known`."""
        import obstore
        from obstore.exceptions import NotModifiedError, PreconditionError

        key = f"{self._prefix}{item.path}"
        try:
            with self._translate_errors(item.path):
                found = await obstore.get_async(self._store, key, options={"if_none_match": known} if known else {})
                data = bytes(await found.bytes_async())
        except (NotModifiedError, PreconditionError):
            return None
        return SourceContent(data, found.meta["e_tag"] or item.fingerprint)

    @contextmanager
    def _translate_errors(self, what: str) -> Generator[None]:
        from obstore.exceptions import (
            BaseError,
            NotModifiedError,
            PermissionDeniedError,
            PreconditionError,
            UnauthenticatedError,
        )

        try:
            yield
        except FileNotFoundError as error:
            if _NO_BUCKET.search(str(error)) or what == "the bucket":
                raise _no_bucket(self._bucket) from error
            raise NotFound(f"{what} is no longer in {self._bucket}.") from error
        except (NotModifiedError, PreconditionError):
            raise
        except (PermissionDeniedError, UnauthenticatedError) as error:
            raise _key_error(
                f"The store refuses the credential for {self._bucket}: it is wrong, or expired."
            ) from error
        except BaseError as error:
            if _KEY_REFUSED.search(str(error)):
                raise _key_error(
                    f"The store refuses the credential for {self._bucket}: it is wrong, or expired."
                ) from error
            if _NO_BUCKET.search(str(error)):
                raise _no_bucket(self._bucket) from error
            raise DependencyUnavailable(
                f"The store of bucket {self._bucket} does not answer.", dependency="source", code="SOURCE_UNAVAILABLE"
            ) from error


def _entry(path: str, size: int, fingerprint: str) -> SourceItem | UnreadableItem | None:
    """What a key is; None for the mark of a folder."""
    if not path or path.endswith("/"):
        return None
    if not path.isprintable() or ".." in path.split("/"):
        printable = path.encode("unicode_escape").decode()
        return UnreadableItem(printable, "SOURCE_NAME_UNUSABLE", "The key is no path of printable characters.")
    if is_hidden(path):
        return UnreadableItem(path, HIDDEN, "Hidden entries are left out.")
    if size > MAX_BYTES:
        return UnreadableItem(path, "SOURCE_TOO_LARGE", f"It is larger than {MAX_BYTES} bytes.")
    return SourceItem(path, size, fingerprint)


def _no_bucket(name: str) -> InvalidInput:
    return InvalidInput(
        f"There is no bucket {name} at the source's location: check its name, region and endpoint.",
        code="SOURCE_NOT_FOUND",
        path=("source",),
    )


def _key_error(message: str) -> InvalidInput:
    return InvalidInput(f"{message} Add the source again.", code="SOURCE_CREDENTIAL_REFUSED", path=("source",))
