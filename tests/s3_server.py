"""A real S3 server (moto) as a process on loopback, for the object store's adapter."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

START_SECONDS = 60.0


@contextmanager
def s3_server() -> Iterator[str]:
    """The endpoint of a server that ends with the block."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    command = [sys.executable, "-c", "import sys; from moto.server import main; main(sys.argv[1:])"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    process = subprocess.Popen(
        [*command, "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
    )
    try:
        _wait_for(port, process)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(10)


def make_bucket(endpoint: str, name: str) -> None:
    """A new bucket."""
    with urllib.request.urlopen(urllib.request.Request(f"{endpoint}/{name}", method="PUT"), timeout=10):
        return


def open_uploads(endpoint: str, bucket: str) -> int:
    """Multipart uploads that were begun and neither completed nor aborted."""
    with urllib.request.urlopen(f"{endpoint}/{bucket}?uploads", timeout=10) as response:
        return int(response.read().count(b"<UploadId>"))


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("the S3 server of the tests did not start") from None
            time.sleep(0.05)
