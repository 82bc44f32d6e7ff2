"""`make frameworks`: the examples of docs/agents.md that are marked `python framework`, as printed, in an environment
that holds the built client, the frameworks as they are released today, and nothing of the server. Prints one table,
writes build/reports/frameworks.json, ends with 5 when an example fails.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agentic_rag.embedded.stack import EmbeddedStack
from agentic_rag.ingestion.ingest_chunks import ChunkedDocument
from tests.bench import processes, product
from tests.bench.product import Servers
from tests.bench.reports import ROOT, Row, publish_report
from tests.frameworks.examples import Example, examples, generate_client, run_example

ENVIRONMENT = ROOT / "build" / "frameworks"
CLIENT = ROOT / "clients" / "python"
EXTRAS = ("langchain", "llama-index", "haystack")
SAMPLE = ROOT / "simulated_ingestion"


def main() -> int:
    # As root the embedded servers run as another user, who must be able to enter the folder.
    os.umask(0o022)
    install()
    with tempfile.TemporaryDirectory(prefix="rag-frameworks-") as folder:
        home = Path(folder)
        home.chmod(0o755)
        generate_client(python(), home)
        with serving(home) as url:
            rows = [row(example, home, url) for example in examples()]
    return publish_report("frameworks", rows)


def install() -> None:
    """The client's wheel with its extras, and the generator, in an environment of their own."""
    uv = Path(sys.executable).with_name("uv")
    for old in ENVIRONMENT.glob("*.whl"):
        old.unlink()
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", ENVIRONMENT, CLIENT]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = ENVIRONMENT.glob("*.whl")
    if not python().exists():
        subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, ENVIRONMENT / "venv"], check=True)
    wanted = [f"agentic-rag-client[{','.join(EXTRAS)}] @ {wheel.as_uri()}", "ariadne-codegen"]
    command = [uv, "pip", "install", "--quiet", "--upgrade", "--reinstall-package", "agentic-rag-client"]
    subprocess.run([*command, "--python", python(), *wanted], check=True)


def python() -> Path:
    return ENVIRONMENT / "venv" / "bin" / "python"


@contextmanager
def serving(home: Path) -> Iterator[str]:
    """The address of a server that has the sample corpus in the workspace `handbook`."""
    with EmbeddedStack(home / "state") as stack:
        servers = Servers(stack.database_url, stack.redis_url, str(home / "state"))
        asyncio.run(fill(servers))
        with processes.server(servers, processes.PRODUCT) as port:
            yield f"http://127.0.0.1:{port}"


async def fill(servers: Servers) -> None:
    async with product.product(servers) as container:
        workspace = await product.create_workspace(container, "handbook")
        documents = [
            ChunkedDocument(path.name, path.stem, tuple(path.read_text("utf-8").split("\n## ")))
            for path in sorted(SAMPLE.glob("*.md"))
        ]
        await container.ingest_chunks.run(workspace, documents, "frameworks")


def row(example: Example, home: Path, url: str) -> Row:
    done = run_example(python(), example.code, [home], url, product.TOKEN)
    if done.returncode:
        print(done.stderr[-3000:], file=sys.stderr)
    return Row(f"example: {example.heading}", f"exit {done.returncode}", "exit 0", done.returncode == 0)


if __name__ == "__main__":
    sys.exit(main())
