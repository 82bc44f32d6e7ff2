"""The whole product over real HTTP: a server and a worker as processes, the sample corpus through the queue, and each
citation checked by readers that share no code with the product.
"""

from __future__ import annotations

import asyncio
import base64
import io
import json
import os
import re
import secrets
import shutil
import signal
import ssl
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit
from uuid import UUID

import asyncpg
import httpx2
import pypdf
import pytest
from tests.acceptance.proxied import proxy_of
from tests.console import issuer_stub
from tests.console.tours import issuer_tour, tour
from tests.frameworks.examples import Example, examples, generate_client, run_example
from tests.line import Line
from tests.programs import Program, run
from tests.stack import POSTGRES, Stack, open_home, redis_sources
from tests.stored_words import tables_with
from tests.waiting import wait_until
from websockets.asyncio.client import connect
from websockets.typing import Origin, Subprotocol

from agentic_rag.embedded.loopback import free_port
from agentic_rag.tenancy.principals import DEFAULT_ORG_ID
from agentic_rag_client import RagClient
from agentic_rag_migrations.catalogue import TABLES

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("core", "server", "worker", "cli", "eval", "migrations")
TOKEN = "acceptance-token-of-sufficient-length"
QUESTIONS = (
    "Who founded Corrand Tidal?",
    "What is the rotor diameter of the Selkie 1200?",
    "How much oil does the gearbox of a Kelpie 600 hold?",
    "What was the operating profit in the fourth quarter of 2024?",
    "On which date did SKN-03 return to service after the pitch bearing failure?",
    "When was Otter Voe commissioned?",
    "How many days of paid holiday does an employee get each year besides public holidays?",
    "Who chairs the panel of the community fund?",
)
ASK = """
mutation ($input: RagAnswerInput!) {
  ragAnswer(input: $input) {
    answer outcome degraded userErrors { code } run { id }
    citations { sourceId sourcePath snippet page verified sourceSpan { start end } }
  }
}
"""
DOCUMENTS = """
query ($workspace: ID!) { documents(workspaceId: $workspace, first: 100) { nodes { id sourcePath status } } }
"""
DELETE = "mutation ($id: ID!) { deleteDocument(id: $id) { deletedId unfinished userErrors { code } } }"
OF_DOCUMENT = """
SELECT table_name FROM information_schema.columns WHERE table_schema = 'public' AND column_name = 'document_id'
"""
KEEP_THE_ID = {"rag_tombstones", "rag_jobs", "rag_chunks_v1"}
"""A tombstone and the record of work name a document that is gone; the view shows what the tables hold."""

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.timeout(180)]


@dataclass(frozen=True)
class Product:
    """A running server and worker, with the sample corpus in one workspace."""

    http: httpx2.Client
    worker: httpx2.Client
    database_url: str
    workspace_id: str
    environ: dict[str, str]

    def graphql(self, document: str, **variables: Any) -> dict[str, Any]:
        response = self.http.post("/graphql", json={"query": document, "variables": variables})
        body = response.json()
        assert response.status_code == 200, body
        assert "errors" not in body, body
        return body["data"]

    def ask(self, question: str) -> dict[str, Any]:
        return self.graphql(ASK, input={"question": question, "workspaceId": self.workspace_id})["ragAnswer"]

    def fetch(self, statement: str, *arguments: Any) -> list[asyncpg.Record]:
        return asyncio.run(fetched(self.database_url, statement, *arguments))

    def tables_with(self, words: str) -> list[str]:
        return asyncio.run(tables_with_words(self.database_url, words))


async def fetched(url: str, statement: str, *arguments: Any) -> list[asyncpg.Record]:
    connection = await asyncpg.connect(url)
    try:
        return await connection.fetch(statement, *arguments)
    finally:
        await connection.close()


async def tables_with_words(url: str, words: str) -> list[str]:
    connection = await asyncpg.connect(url)
    try:
        return await tables_with(connection, TABLES, words)
    finally:
        await connection.close()


def environment(home: Path, database_url: str, redis_url: str) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "PYTHONPATH": os.pathsep.join(str(ROOT / package) for package in PACKAGES),
        "AGENTIC_RAG_HOME": str(home),
        "AGENTIC_RAG_ENABLED": "true",
        "AGENTIC_RAG_TOKEN": TOKEN,
        "AGENTIC_RAG_PORT": str(free_port()),
        "AGENTIC_RAG_WORKER_METRICS_PORT": str(free_port()),
        "AGENTIC_RAG_QUEUE_NAME": f"acceptance-{secrets.token_hex(4)}",
        "AGENTIC_RAG_SCHEDULE": "calibrate_minutes=0.02",
        "DATABASE_URL": database_url,
        "REDIS_URL": redis_url,
    }


def command(*arguments: str, program: str = "agentic_rag_cli") -> list[str]:
    return [sys.executable, "-m", program, *arguments]


def start(environ: dict[str, str], name: str, program: str = "agentic_rag_cli") -> subprocess.Popen[bytes]:
    with (Path(environ["HOME"]) / f"{name}.log").open("ab") as log:
        return Program(command(name, program=program), cwd=environ["HOME"], env=environ, stdout=log, stderr=log)


def answers(client: httpx2.Client, path: str) -> bool:
    try:
        return client.get(path).status_code == 200
    except httpx2.TransportError:
        return False


def stop(process: subprocess.Popen[bytes]) -> int:
    process.terminate()
    try:
        return process.wait(30)
    finally:
        process.kill()


def client_of(port: str) -> httpx2.Client:
    return httpx2.Client(
        base_url=f"http://127.0.0.1:{port}",
        headers={"authorization": f"Bearer {TOKEN}"},
        timeout=30,
        trust_env=False,
    )


@pytest.fixture(scope="module")
def issuer() -> Iterator[issuer_stub.IssuerStub]:
    with issuer_stub.serving(DEFAULT_ORG_ID) as stub:
        yield stub


@pytest.fixture(scope="module")
def environ(session_stack: Stack, issuer: issuer_stub.IssuerStub) -> Iterator[dict[str, str]]:
    """What the processes of this file see: a database and a home of their own."""
    server_url = session_stack.address(POSTGRES)
    name = f"test_{secrets.token_hex(6)}"
    asyncio.run(fetched(server_url, f'CREATE DATABASE "{name}"'))
    home = open_home("agentic-rag-http-")
    url = urlunsplit(urlsplit(server_url)._replace(path=f"/{name}"))
    yield environment(home, url, session_stack.redis_url(redis_sources()[0])) | issuer.settings
    shutil.rmtree(home)
    asyncio.run(fetched(server_url, f'DROP DATABASE "{name}" WITH (FORCE)'))


@pytest.fixture(scope="module")
def product(environ: dict[str, str]) -> Iterator[Product]:
    """Migrated, serving, working; the sample corpus went through the queue."""
    home = environ["HOME"]
    run(command("migrate", "up"), cwd=home, env=environ, check=True)
    http, worker = client_of(environ["AGENTIC_RAG_PORT"]), client_of(environ["AGENTIC_RAG_WORKER_METRICS_PORT"])
    processes = [start(environ, name) for name in ("serve", "worker")]
    try:
        wait_until(lambda: answers(http, "/readyz") and answers(worker, "/readyz"), "server and worker are ready", 40)
        ingest = command("ingest", "--source", str(ROOT / "simulated_ingestion"), "--workspace", "handbook", "--wait")
        run(ingest, cwd=home, env=environ, check=True)
        found = http.post("/graphql", json={"query": '{ workspaceByName(name: "handbook") { id } }'}).json()
        yield Product(http, worker, environ["DATABASE_URL"], found["data"]["workspaceByName"]["id"], environ)
        codes = [stop(process) for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.wait()
        http.close()
        worker.close()
    assert codes == [0, 0]


def key_of(public_id: str) -> UUID:
    """The document's own key: the last 16 bytes of its id."""
    return UUID(bytes=base64.urlsafe_b64decode(public_id)[-16:])


def squeezed(text: str) -> str:
    """Letters without white space, which two readers of one PDF may place differently, and without the bars that stand
    between the cells of a table in the stored text.
    """
    return "".join(unicodedata.normalize("NFKC", text).replace("|", " ").split())


def page_text(pdf: bytes, page: int) -> str:
    return pypdf.PdfReader(io.BytesIO(pdf)).pages[page - 1].extract_text()


def test_the_console_asks_opens_the_marked_page_and_keeps_what_is_said(product: Product) -> None:
    token = product.environ["AGENTIC_RAG_TOKEN"]

    rows = tour(str(product.http.base_url).rstrip("/"), token)

    assert [row for row in rows if not row.ok] == []


def test_people_sign_in_to_the_console_at_their_issuer(product: Product, issuer: issuer_stub.IssuerStub) -> None:
    rows = issuer_tour(str(product.http.base_url).rstrip("/"), issuer.url)

    assert [row for row in rows if not row.ok] == []
    assert len(rows) >= 28


def test_every_document_is_ready_and_its_original_is_served_unchanged(product: Product) -> None:
    nodes = product.graphql(DOCUMENTS, workspace=product.workspace_id)["documents"]["nodes"]

    assert {node["status"] for node in nodes} == {"READY"}
    assert len(nodes) == len(list((ROOT / "simulated_ingestion").iterdir()))
    for node in nodes:
        served = product.http.get(f"/v1/documents/{node['id']}/source")
        assert served.content == (ROOT / "simulated_ingestion" / node["sourcePath"]).read_bytes(), node["sourcePath"]


def test_every_citation_stands_in_the_stored_text_and_on_the_cited_page_of_the_original(product: Product) -> None:
    checked, pages = 0, 0
    for question in QUESTIONS:
        answered = product.ask(question)
        assert answered["outcome"] != "ABSTAINED", question
        assert answered["degraded"] == []
        assert answered["citations"], question
        for citation in answered["citations"]:
            rows = product.fetch(
                "SELECT r.text FROM rag_documents d JOIN rag_revisions r USING (org_id, workspace_id, revision_id) "
                "WHERE d.document_id = $1",
                key_of(citation["sourceId"]),
            )
            span = citation["sourceSpan"]
            assert rows[0]["text"][span["start"] : span["end"]] == citation["snippet"], question
            assert citation["verified"] is True
            served = product.http.get(f"/v1/documents/{citation['sourceId']}/text", params=span).json()
            assert served["text"] == citation["snippet"], question
            assert served["characters"] == len(rows[0]["text"])
            checked += 1
            if citation["sourcePath"].endswith(".pdf"):
                original = product.http.get(f"/v1/documents/{citation['sourceId']}/source").content
                assert squeezed(citation["snippet"]) in squeezed(page_text(original, citation["page"])), citation
                pages += 1

    assert checked >= len(QUESTIONS)
    assert pages >= 3


def test_what_a_search_finds_stands_in_the_text_that_is_served(product: Product) -> None:
    workspace = product.http.post("/graphql", json={"query": "{ workspaces { id } }"}).json()["data"]["workspaces"][0]
    sent = {"query": QUESTIONS[1], "workspaceId": workspace["id"], "topK": 5}

    found = product.http.post("/v1/search", json=sent).json()

    assert len(found["passages"]) == 5
    assert "Selkie 1200" in found["passages"][0]["text"]
    for one in found["passages"]:
        part = {"start": one["start"], "end": one["end"]}
        served = product.http.get(f"/v1/documents/{one['sourceId']}/text", params=part).json()
        assert served["text"] == one["text"]
    prepared = product.http.post(
        "/v1/context",
        json={
            "query": QUESTIONS[1],
            "workspaces": [{"workspaceId": workspace["id"]}],
            "template": "project_knowledge",
        },
    ).json()
    assert prepared["text"].startswith("## 🧠 RELEVANT PROJECT KNOWLEDGE\n- **")
    assert prepared["sources"][0]["sourceId"] in {one["sourceId"] for one in found["passages"]}


def test_the_examples_for_agents_run_as_printed(product: Product, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs" / "agents.md").read_text("utf-8")
    monkeypatch.setenv("AGENTIC_RAG_URL", str(product.http.base_url).rstrip("/"))
    monkeypatch.setenv("AGENTIC_RAG_TOKEN", TOKEN)

    blocks = re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)

    assert blocks
    for block in blocks:
        exec(compile(block, "docs/agents.md", "exec"), {"__name__": "example"})


def test_the_examples_for_frameworks_run_as_printed(product: Product, tmp_path: Path) -> None:
    # `make test` has made the environment before; a run of this file alone makes it.
    subprocess.run(["make", "--silent", ".venv/.frameworks"], cwd=ROOT, check=True)
    python = ROOT / ".venv" / "frameworks" / "bin" / "python"
    generate_client(python, tmp_path)
    url = str(product.http.base_url).rstrip("/")

    def run_one(example: Example) -> tuple[str, int, str]:
        done = run_example(python, example.code, [ROOT / "clients" / "python", tmp_path], url, TOKEN)
        return example.heading, done.returncode, done.stderr if done.returncode else ""

    with ThreadPoolExecutor(2) as pool:
        ran = list(pool.map(run_one, examples()))

    headings = ["LangChain", "LlamaIndex", "Haystack", "A client of one's own, generated"]
    assert ran == [(one, 0, "") for one in headings]


def test_the_client_uploads_and_its_agents_begin_with_what_they_know(product: Product) -> None:
    agents = ROOT / "clients" / "python" / "examples" / "agents.py"
    environ = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT / "clients" / "python"),
        "AGENTIC_RAG_URL": str(product.http.base_url).rstrip("/"),
        "AGENTIC_RAG_TOKEN": TOKEN,
    }
    with RagClient(environ["AGENTIC_RAG_URL"], TOKEN, "handbook") as client:
        uploaded = client.upload(b"# Valves\n\nEvery relief valve opens at 3 bar.\n", name="valves.md")
        wait_until(lambda: product.http.get(uploaded.status_url).json()["status"] == "READY", "valves.md is read", 30)
        shown = subprocess.run(
            [sys.executable, agents, "handbook", "When does a relief valve open?"],
            env=environ, check=True, capture_output=True, text=True,
        ).stdout  # fmt: skip
    with RagClient(environ["AGENTIC_RAG_URL"], "a wrong token", "handbook") as stranger:
        refused = stranger.prepare_context("x")

    coder, reviewer = shown.split("# ROLE: Code Reviewer")
    assert "## 🧠 RELEVANT PROJECT KNOWLEDGE\n- **valves.md**:" in coder
    assert "RELEVANT PROJECT KNOWLEDGE" not in reviewer
    assert (refused.knowledge_context, refused.fault) == ("", "UNAUTHENTICATED")
    assert product.graphql(DELETE, id=uploaded.id)["deleteDocument"]["userErrors"] == []


CALIBRATION = """
query ($id: ID!) {
  workspace(id: $id) {
    calibration { inForce source error chunks pooled { threshold questions bound low high } kinds { kind threshold } }
  }
}
"""
SUPPORT = """
mutation ($input: RagAnswerInput!) { ragAnswer(input: $input) { debug { support { threshold } } } }
"""


def test_a_workspace_is_calibrated_by_itself_and_its_answers_follow(product: Product) -> None:
    made = product.graphql('mutation { createWorkspace(input: {name: "pumps"}) { workspace { id } } }')
    workspace = made["createWorkspace"]["workspace"]["id"]
    sections = (
        f"# Hall {number}\n\n" + " ".join(
            f"In {1900 + (7 * number + line) % 100} the pump of cellar {number}-{line} was repaired by Ada Quill{line} "
            f"and {3 + line} helpers after storm {number} had flooded it."
            for line in range(10)
        )
        for number in range(115)
    )  # fmt: skip
    text = "\n\n".join(sections).encode()
    uploaded = product.http.post(f"/v1/workspaces/{workspace}/documents", files={"file": ("halls.md", text)})
    assert uploaded.status_code < 300, uploaded.text

    def calibration() -> Any:
        return product.graphql(CALIBRATION, id=workspace)["workspace"]["calibration"]

    wait_until(lambda: calibration() is not None, "the workspace is calibrated", 120)
    found = calibration()
    asked = {"question": "Who repaired the pump of hall 12 after the storm?", "workspaceId": workspace}
    threshold = product.graphql(SUPPORT, input=asked)["ragAnswer"]["debug"]["support"]["threshold"]

    assert (found["inForce"], found["source"], found["error"]) == (True, "CORPUS", 0.05)
    assert found["chunks"] >= 100
    assert found["pooled"]["questions"] >= 100
    assert found["pooled"]["low"] <= 0.05
    assert found["pooled"]["threshold"] >= 0.25
    assert threshold in {found["pooled"]["threshold"], *(one["threshold"] for one in found["kinds"])}
    again = product.graphql("mutation ($id: ID!) { resetCalibration(workspaceId: $id) { space } }", id=workspace)
    assert again["resetCalibration"]["space"].startswith("deterministic/")
    assert calibration() is None
    assert product.graphql(SUPPORT, input=asked)["ragAnswer"]["debug"]["support"]["threshold"] == 0.25


def test_server_and_worker_tell_their_state_and_figures(product: Product) -> None:
    product.ask("What does the server tell of itself?")
    ready = product.http.get("/readyz").json()
    figures = product.http.get("/metrics").text
    work = product.worker.get("/metrics").text

    assert {check["name"]: check["status"] for check in ready["checks"]} == dict.fromkeys(
        ("postgres", "redis", "blobs"), "ok"
    )
    assert product.worker.get("/readyz").status_code == 200
    assert "rag_runs_total{" in figures
    assert "rag_http_request_seconds" in figures
    assert "rag_job_seconds" in work
    assert TOKEN not in figures + work


def test_without_a_token_nothing_is_read(product: Product) -> None:
    document = product.graphql(DOCUMENTS, workspace=product.workspace_id)["documents"]["nodes"][0]["id"]
    with httpx2.Client(base_url=product.http.base_url, trust_env=False) as stranger:
        asked = stranger.post("/graphql", json={"query": "{ workspaces { id } }"})
        source = stranger.get(f"/v1/documents/{document}/source")

    assert (asked.status_code, source.status_code) == (401, 401)


def test_the_logs_hold_neither_questions_nor_the_token(product: Product) -> None:
    question = "Which zebra signed the marmalade contract?"
    product.ask(question)

    logs = "".join(path.read_text() for path in Path(product.environ["HOME"]).glob("*.log"))

    assert "rag_directives_evaluated" in logs
    assert "marmalade" not in logs
    assert TOKEN not in logs


def test_switched_off_it_refuses_with_a_code_and_is_not_ready(product: Product) -> None:
    environ = product.environ | {"AGENTIC_RAG_ENABLED": "false", "AGENTIC_RAG_PORT": str(free_port())}
    process = start(environ, "serve")
    try:
        with client_of(environ["AGENTIC_RAG_PORT"]) as http:
            wait_until(lambda: answers(http, "/healthz"), "the second server listens")
            asked = http.post("/graphql", json={"query": "{ workspaces { id } }"}).json()
            ready = http.get("/readyz")
    finally:
        code = stop(process)

    assert asked["errors"][0]["extensions"]["code"] == "FEATURE_DISABLED"
    assert ready.status_code == 503
    assert "FEATURE_DISABLED" in ready.text
    assert code == 0


def test_a_deleted_document_leaves_answers_and_every_table(product: Product) -> None:
    question = "Who chairs the panel of the community fund?"
    cited = next(it for it in product.ask(question)["citations"] if it["sourcePath"] == "community-fund.html")
    document = key_of(cited["sourceId"])

    deleted = product.graphql(DELETE, id=cited["sourceId"])["deleteDocument"]
    again = product.ask(question)

    assert deleted == {"deletedId": cited["sourceId"], "unfinished": [], "userErrors": []}
    assert cited["sourceId"] not in {it["sourceId"] for it in again["citations"]}
    assert cited["snippet"] not in again["answer"]
    assert product.http.get(f"/v1/documents/{cited['sourceId']}/source").status_code == 404
    for row in product.fetch(OF_DOCUMENT):
        table = row["table_name"]
        if table not in KEEP_THE_ID:
            left = product.fetch(f'SELECT 1 FROM "{table}" WHERE document_id = $1', document)
            assert not left, table
    assert product.tables_with(cited["snippet"]) == []


@pytest.mark.skipif(shutil.which("nginx") is None, reason="nginx is not installed")
async def test_the_printed_proxy_passes_questions_events_and_sockets_on(product: Product, tmp_path: Path) -> None:
    asked = {"query": ASK, "variables": {"input": {"question": QUESTIONS[0], "workspaceId": product.workspace_id}}}
    events = f'subscription {{ jobEvents(workspaceId: "{product.workspace_id}") {{ seq }} }}'
    headers = {"authorization": f"Bearer {TOKEN}"}
    with proxy_of(int(product.environ["AGENTIC_RAG_PORT"]), tmp_path) as url:
        async with httpx2.AsyncClient(base_url=url, headers=headers, verify=False, timeout=30, trust_env=False) as http:
            answered = (await http.post("/graphql", json=asked)).json()["data"]["ragAnswer"]["outcome"]
            accepting = {"accept": "text/event-stream"}
            async with http.stream("POST", "/graphql", json={"query": events}, headers=accepting) as response:
                first = await asyncio.wait_for(anext(aiter(response.aiter_lines())), 20)
        page = f"{url.replace('https', 'wss')}/graphql"
        unverified = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        unverified.check_hostname, unverified.verify_mode = False, ssl.CERT_NONE
        async with connect(
            page, subprotocols=[Subprotocol("graphql-transport-ws")], origin=Origin(url), ssl=unverified, proxy=None
        ) as socket:
            await socket.send(json.dumps({"type": "connection_init", "payload": headers}))
            greeted = json.loads(await asyncio.wait_for(socket.recv(), 20))

    assert (answered, greeted["type"]) == ("GROUNDED", "connection_ack")
    assert first


class Watch:
    """`rag knowledge sync --watch` against a server, until the block ends."""

    def __init__(self, product: Product, project: Path, workspace: str, url: str | None = None) -> None:
        address = url or str(product.http.base_url)
        self.words = ("knowledge", "sync", "--root", str(project), "-w", workspace, "--json", "--url", address)
        self.environ = {name: product.environ[name] for name in ("PATH", "HOME", "PYTHONPATH", "AGENTIC_RAG_TOKEN")}

    def __enter__(self) -> Watch:
        self.process = Program(
            command(*self.words, "--watch"), env=self.environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self.told, self.errors = self.process.stdout, self.process.stderr
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    def round(self) -> dict[str, Any]:
        """What the next round came to, of its only folder."""
        lines: list[str] = []
        while not lines or lines[-1] != "}\n":
            lines.append(self.told.readline())
            assert lines[-1], self.errors.read()
        (folder,) = json.loads("".join(lines))["directories"]
        return {name: folder[name] for name in ("state", "new", "changed", "hidden", "unchanged")} | {
            "error": (folder["error"] or {}).get("code"),
            "ready": folder["documents"]["ready"],
        }

    def once(self) -> tuple[int, dict[str, Any]]:
        """The exit code of one more synchronisation, without a watch, and what it came to."""
        done = run(command(*self.words), env=self.environ, text=True)
        return done.returncode, json.loads(done.stdout)["directories"][0]


def quiet(ready: int, **more: object) -> dict[str, Any]:
    """A round that is done."""
    nothing = {"state": "done", "new": 0, "changed": 0, "hidden": 0, "unchanged": 0, "error": None, "ready": ready}
    return nothing | more


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose agents know one file."""
    guides = tmp_path / "guides"
    guides.mkdir()
    (tmp_path / "settings.yaml").write_text("knowledge:\n  directories:\n    - path: guides\n      domain: how-to\n")
    (guides / "valves.md").write_text("# Valves\n\nEvery relief valve opens at 3 bar.\n")
    return tmp_path


def test_a_watch_that_is_interrupted_says_so_and_has_synchronised_whole_files(product: Product, project: Path) -> None:
    with Watch(product, project, "watched-interrupted") as watch:
        first = watch.round()
        (project / "guides" / "leave.md").write_text("# Leave\n\nLeave is asked for two weeks ahead.\n")
        second = watch.round()
        watch.process.send_signal(signal.SIGINT)
        _, errors = watch.process.communicate(timeout=30)
        code, after = watch.once()

    assert (first, second) == (quiet(1, new=1), quiet(2, new=1, unchanged=1))
    assert (watch.process.returncode, errors.splitlines()[-1]) == (130, "interrupted")
    assert (code, after["unchanged"], after["documents"]["ready"]) == (0, 2, 2)


def test_a_watch_that_is_killed_leaves_what_the_next_run_completes(product: Product, project: Path) -> None:
    with Watch(product, project, "watched-killed") as watch:
        assert watch.round() == quiet(1, new=1)
        for number in range(40):
            (project / "guides" / f"rule-{number}.md").write_text(
                f"# Rule {number}\n\nRule {number} holds in hall {number}.\n"
            )

        by_name = 'query { workspaceByName(name: "watched-killed") { id } }'
        workspace = product.graphql(by_name)["workspaceByName"]["id"]

        def paths() -> list[str]:
            nodes = product.graphql(DOCUMENTS, workspace=workspace)["documents"]["nodes"]
            return [one["sourcePath"] for one in nodes]

        wait_until(lambda: len(paths()) > 1, "the second round has begun", 60)
        watch.process.kill()
        watch.process.wait(30)
        left = paths()
        code, after = watch.once()

    assert "guides/valves.md" in left
    assert (code, after["state"], after["documents"]["ready"], after["documents"]["failed"]) == (0, "done", 41, 0)
    assert sorted(paths()) == sorted({f"guides/{one.name}" for one in (project / "guides").iterdir()})


def test_a_watch_keeps_the_documents_of_a_folder_that_is_away(product: Product, project: Path) -> None:
    with Watch(product, project, "watched-away") as watch:
        first = watch.round()
        (project / "guides").rename(project / "elsewhere")
        away = watch.round()
        while_away, _ = watch.once()
        (project / "elsewhere").rename(project / "guides")
        back = watch.round()

    assert (first, back) == (quiet(1, new=1), quiet(1, unchanged=1))
    assert (away["state"], away["error"], away["ready"], while_away) == ("failed", "SOURCE_NOT_FOUND", 1, 3)


async def test_a_watch_goes_on_when_the_server_can_be_reached_again(product: Product, project: Path) -> None:
    line = Line(str(product.http.base_url))
    await line.mend()
    with Watch(product, project, "watched-cut-off", line.url) as watch:
        first = await asyncio.to_thread(watch.round)
        await line.cut()
        (project / "guides" / "valves.md").write_text("# Valves\n\nEvery relief valve opens at 4 bar.\n")
        told = await asyncio.to_thread(watch.errors.readline)
        await line.mend()
        second = await asyncio.to_thread(watch.round)
        while second["state"] == "failed":
            second = await asyncio.to_thread(watch.round)
        await line.cut()

    assert (first, second) == (quiet(1, new=1), quiet(1, changed=1))
    assert "error [" in told
