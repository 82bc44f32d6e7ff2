"""A bucket is asked with the credential that is stated for it, and with nothing of the process' environment."""

from __future__ import annotations

from contextlib import suppress
from http.server import BaseHTTPRequestHandler

import pytest
from tests.loopback_http import serving_http

from agentic_rag.adapters.blobs.s3 import S3BlobStore, S3Options
from agentic_rag.adapters.sources.s3 import open_s3
from agentic_rag.ingestion.sources.source import NewSource, SourceKind
from agentic_rag.kernel.errors import AgenticRagError
from agentic_rag.kernel.secret import Secret

OTHERS = {
    "AWS_SESSION_TOKEN": "session-of-the-process",
    "AWS_ACCESS_KEY_ID": "id-of-the-process",
    "AWS_SECRET_ACCESS_KEY": "secret-of-the-process",
    "AWS_SKIP_SIGNATURE": "true",
    "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
}

pytestmark = pytest.mark.network


async def test_no_credential_of_the_environment_goes_to_a_bucket(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in OTHERS.items():
        monkeypatch.setenv(name, value)
    asked: list[str] = []

    class Bucket(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(str(self.headers).lower())
            self.send_response(404)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing."""

    with serving_http(Bucket) as endpoint:
        stated = NewSource("s", SourceKind.S3, "bucket", options={"endpoint": endpoint}, is_internal=True)
        for secret in (Secret("own-id:own-key"), None):
            async with open_s3(stated, secret) as source:
                with suppress(AgenticRagError):
                    await source.changes(frozenset(), None)
        with suppress(AgenticRagError):
            await S3BlobStore(S3Options("bucket", "own-id", "own-key", endpoint)).read("a/b")

    assert ["credential=own-id" in one for one in asked] == [True, False, True]
    assert [one for one in asked if "of-the-process" in one] == []
