"""Every metric of the table moves in one scenario with real processes, and comes to rest after it."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import socket
import subprocess
import uuid
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import asyncpg
import httpx2
import pytest
import redis
from prometheus_client.parser import text_string_to_metric_families
from tests.acceptance.test_over_http import DELETE, DOCUMENTS, answers, client_of, environment, fetched, start
from tests.programs import PYTHONPATH
from tests.provider_stub import Fault, ProviderStub
from tests.stack import open_home
from tests.token_issuer import AUDIENCE, ISSUER, claims, rsa_key, serving, signed
from tests.waiting import wait_until

from agentic_rag.adapters.telemetry.metrics import METRICS, MetricKind
from agentic_rag.embedded.loopback import free_port
from agentic_rag.embedded.redis import EmbeddedRedis
from agentic_rag.kernel.public_ids import decode
from agentic_rag.tenancy.principals import DEFAULT_ORG_ID

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.timeout(180)]

SENTENCE = "The relief valve opens at a pressure of 3 bar."
TEXT = f"# Valves\n\n{SENTENCE} It is tested every May by the crew.\n"
POISON = "# Poison\n\nNo provider ever embeds this sentence.\n"
QUESTION = "At which pressure does the relief valve open?"
ASKS = 11
"""A minute."""
ASK = """mutation ($input: RagAnswerInput!) {
  ragAnswer(input: $input) { outcome citations { chunkId } run { id cache } userErrors { code } }
}"""
RATE = "mutation ($input: SubmitFeedbackInput!) { submitFeedback(input: $input) { userErrors { code } } }"
DEAD = "query ($id: ID!) { deadLetters(workspaceId: $id, kinds: [INGEST]) { nodes { id } } }"
LEADERS = """
SELECT pid, client_port FROM pg_locks JOIN pg_stat_activity USING (pid)
WHERE locktype = 'advisory' AND granted AND datname = current_database()
"""

SLOW_RUNS = """
WITH made AS (
    INSERT INTO rag_runs
    SELECT (jsonb_populate_record(NULL::rag_runs, to_jsonb(one) || jsonb_build_object(
        'run_id', gen_random_uuid(), 'workspace_id', w.workspace_id, 'idempotency_key', NULL
    ))).*
    FROM (SELECT * FROM rag_runs LIMIT 1) one, rag_workspaces w, generate_series(1, 40)
    WHERE w.name = 'outside'
    RETURNING org_id, workspace_id, run_id
)
INSERT INTO rag_gate_decisions (org_id, workspace_id, run_id, decided_at, weights_version, mode, care, score, plan_type,
                                planned, intent, contributions, downgrades, seconds, deploy, external_calls, gained)
SELECT org_id, workspace_id, run_id, now(), 'w', 'on', 0.5, 1, 'search', 'search', 'lookup', '[]', '[]', 3600,
       (row_number() OVER () % 2)::text, 1, true
FROM made
"""
"""Runs of two deploys in a row that looked outside and took an hour."""

DIED = "INSERT INTO rag_workers VALUES ('gone', 'elsewhere', 1, '0', 1, now(), now() - interval '5 minutes', NULL)"
LATER = (
    "UPDATE rag_workers SET seen_at = seen_at - interval '2 hours' WHERE worker = 'gone'",
    "UPDATE rag_usage SET day = day - 40",
)
"""As if the worker had died hours ago, and another month had begun."""
COMES_BACK = {
    "rag_jobs": "rag_jobs",
    "rag_job_oldest_seconds": "rag_job_oldest_seconds",
    "rag_workers": "rag_workers died",
    "rag_documents": "rag_documents FAILED",
    "rag_store_lag": "rag_store_lag",
    "rag_budget_share": "rag_budget_share",
    "rag_database_connections": "rag_database_connections main used",
}
"""Every gauge that counts something, and what of it is 0 again once there is nothing to count."""
STAYS = {"rag_database_connections_max", "rag_build_info"}
"""What a process is, and not what it does."""


@dataclass
class Product:
    """A server and two workers, and what they stand on."""

    http: httpx2.Client
    workers: Mapping[str, subprocess.Popen[bytes]]
    """By the address of their metrics."""
    database_url: str
    redis: EmbeddedRedis
    queue: str
    peaks: dict[str, float] = field(default_factory=dict[str, float])
    """The largest value of each metric that `samples` saw."""

    def samples(self) -> dict[str, float]:
        """What all processes export: the sum over labels, and of a gauge also each, under its name and their values."""
        found: dict[str, float] = {}
        for text in (self.http.get("/metrics").text, *map(metrics_of, self.workers)):
            for family in text_string_to_metric_families(text):
                for one in family.samples:
                    names = {one.name, *([" ".join([one.name, *one.labels.values()])] * (family.type == "gauge"))}
                    for name in names:
                        found[name] = found.get(name, 0.0) + one.value
        self.peaks.update({name: max(value, self.peaks.get(name, 0.0)) for name, value in found.items()})
        return found

    def graphql(self, document: str, **variables: Any) -> dict[str, Any]:
        body = self.http.post("/graphql", json={"query": document, "variables": variables}).json()
        assert "errors" not in body, body
        return body["data"]

    def ask(self, workspace: str, question: str, token: str = "", **options: Any) -> httpx2.Response:
        asked = {"workspaceId": workspace, "question": question, "options": options}
        headers = {"authorization": f"Bearer {token}"} if token else {}
        return self.http.post("/graphql", json={"query": ASK, "variables": {"input": asked}}, headers=headers)

    def rate(self, answer: dict[str, Any]) -> None:
        """As good, and its first citation as of use."""
        given = {"runId": answer["run"]["id"], "rating": "GOOD", "chunkIds": [answer["citations"][0]["chunkId"]]}
        assert self.graphql(RATE, input=given)["submitFeedback"] == {"userErrors": []}

    def workspace(self, name: str) -> str:
        made = self.graphql(
            "mutation ($name: String!) { createWorkspace(input: {name: $name}) { workspace { id } } }", name=name
        )
        return made["createWorkspace"]["workspace"]["id"]

    def upload(self, workspace: str, name: str, text: str) -> None:
        """And wait for its end."""
        files = {"file": (name, text.encode(), "text/markdown")}
        state = self.http.post(f"/v1/workspaces/{workspace}/documents", files=files).json()

        def ended() -> bool:
            return self.http.get(state["statusUrl"]).json()["status"] in ("READY", "FAILED")

        wait_until(ended, f"{name} is READY or FAILED", 40)

    def execute(self, statement: str) -> None:
        asyncio.run(fetched(self.database_url, statement))

    def leading(self) -> list[str]:
        """The workers that export counts of documents, as the alert RagNoLeader looks for them."""
        return [address for address in self.workers if "rag_documents{" in metrics_of(address)]


ALLOW_WEB = """mutation ($id: ID!) {
  updateWorkspaceSettings(input: {workspaceId: $id, web: {allow: true}}) { userErrors { code } }
}"""
CONTEXT = """query ($workspace: ID!) {
  context(input: {query: "valves", workspaces: [{workspaceId: $workspace}], template: "team_guidelines"}) { step }
}"""


def metrics_of(address: str) -> str:
    return httpx2.get(f"{address}/metrics", timeout=10, trust_env=False).text


def quoting(request: Any) -> str:
    """What a model says that quotes the passage it is shown."""
    shown = re.findall(r"<<PASSAGE (\d+) \w+>>(.*?)<</PASSAGE", request.body["messages"][-1]["content"], re.DOTALL)
    place = next((int(number) for number, text in shown if SENTENCE in text), 0)
    quotes = [{"passage": place, "quote": SENTENCE}]
    sentences = [{"part": 0, "text": SENTENCE, "quotes": quotes}]
    return json.dumps({"sentences": sentences, "unanswered": [], "conflicting": False})


def fails(request: Any) -> Fault:
    is_poison = request.path.endswith("embeddings") and "No provider ever" in json.dumps(request.body)
    return Fault(status=500) if is_poison else Fault()


@pytest.fixture
def product(migrated_database: str) -> Iterator[Product]:
    with ExitStack() as exits:
        home = open_home("agentic-rag-metrics-")
        results = home / "results.jsonl"
        results.write_text('{"url": "http://localhost/valves", "title": "Valves", "snippet": "Of valves."}\n')
        queues = EmbeddedRedis(home)
        exits.callback(queues.stop)
        stub = exits.enter_context(ProviderStub())
        stub.otherwise, stub.scribe = fails, quoting
        issuer = exits.enter_context(serving(rsa_key()))
        environ = environment(home, migrated_database, queues.start()) | {
            "PYTHONPATH": PYTHONPATH,
            "AGENTIC_RAG_JOB_ATTEMPTS": "1",
            "DATABASE_READ_URL": "postgresql://nobody@127.0.0.1:1/none",
            "AGENTIC_RAG_RATE_LIMITS": f"asks={ASKS}",
            "AGENTIC_RAG_SCHEDULE": "canaries_minutes=0.1",
            "AGENTIC_RAG_SEARCH": f"file:{results}?usd=0.01",
            "AGENTIC_RAG_JWKS_URL": issuer.url,
            "AGENTIC_RAG_JWT_ISSUER": ISSUER,
            "AGENTIC_RAG_JWT_AUDIENCE": AUDIENCE,
            "RAG_EMBEDDER": "openai",
            "OPENAI_API_KEY": "test-key",
            "OPENAI_BASE_URL": stub.base_url,
            "AGENTIC_RAG_EMBEDDING_MODEL": "stub:8",
            "AGENTIC_RAG_CHAT_MODEL": "stub-chat",
            "AGENTIC_RAG_MODEL_PRICES": "stub=1/1,openai:stub=1/1,stub-chat=1/1,platform:stub-chat=1/1",
        }
        ports = [str(free_port()) for _ in range(2)]
        started = [start(environ, "serve")]
        environ["AGENTIC_RAG_SEARCH"] += "&without=docs.example.com"
        worker = "tests.programs.counting_worker"
        started += [start(environ | {"AGENTIC_RAG_WORKER_METRICS_PORT": port}, "worker", worker) for port in ports]
        workers = {f"http://127.0.0.1:{port}": child for port, child in zip(ports, started[1:], strict=True)}
        http = exits.enter_context(client_of(environ["AGENTIC_RAG_PORT"]))

        def ready() -> bool:
            return all(answers(client, "/readyz") for client in (http, *clients))

        clients = [exits.enter_context(client_of(port)) for port in ports]
        for child in started:
            exits.callback(end, child)
        wait_until(ready, "server and workers are ready", 120)
        yield Product(http, workers, migrated_database, queues, environ["AGENTIC_RAG_QUEUE_NAME"])


def end(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGCONT)
    process.kill()
    process.wait()


def raise_every_metric(it: Product) -> str:
    """The scenario; returns the workspace whose dead letter remains."""
    first, second = it.workspace("first"), it.workspace("second")
    for workspace in (first, second):
        it.upload(workspace, "valves.md", TEXT)
    it.upload(first, "poison.md", POISON)
    with redis.Redis.from_url(it.redis.start()) as queues:
        queues.set("arq:job:garbage", b"\xff\x00 no message of ours")
        queues.zadd(f"{it.queue}:bulk", {"garbage": 1})
        for workspace in (first, second):
            assert it.ask(workspace, QUESTION).status_code == 200
        # What one workspace cached is put under the key of the other: the last look before an answer stops it.
        wait_until(lambda: all(entry_of(queues, one) for one in (first, second)), "both answers are cached", 20)
        queues.set(entry_of(queues, first), queues.get(entry_of(queues, second)) or b"")
        for workspace in (first, second):
            assert it.ask(workspace, QUESTION).status_code == 200
    token = signed(claims(DEFAULT_ORG_ID), rsa_key())
    it.ask(second, "Who opens the valve?", token)
    it.rate(it.ask(first, "What opens at 3 bar?").json()["data"]["ragAnswer"])
    it.graphql(CONTEXT, workspace=first)
    it.ask(it.workspace("empty"), "Who painted the harbour?")
    look_outside(it)
    it.execute(DIED)
    it.execute("REVOKE INSERT ON rag_runs FROM rag_app")
    it.ask(first, "Who tests the relief valve?", cache="BYPASS")
    wait_until(lambda: it.samples().get("rag_runs_unrecorded_total", 0) > 0, "a run is not stored", 20)
    it.execute("GRANT INSERT ON rag_runs TO rag_app")
    # Long after the first time, whose run is stored by now: a person had no use of the answer.
    it.ask(second, "Who opens the valve?", token)
    for credential in (token, "rag_wrong"):
        it.http.post("/graphql", json={"query": "{ __typename }"}, headers={"authorization": f"Bearer {credential}"})
    with socket.create_connection((it.http.base_url.host, it.http.base_url.port)) as stranger:
        stranger.sendall(b"this is no request\r\n\r\n")
        stranger.recv(100)
    it.redis.stop()
    it.ask(first, QUESTION)
    # No table behind Redis has this answer: it lacks the cache.
    it.ask(first, "When is the relief valve tested?")
    it.redis.start()
    assert any(it.ask(first, QUESTION).status_code == 429 for _ in range(10 * ASKS))
    return first


@contextmanager
def a_job_that_waits(url: str) -> Iterator[None]:
    """A finished job is due once more, and no worker gets it: its row is locked until the block ends."""

    async def hold(change: asyncpg.Connection, lock: asyncpg.Connection) -> uuid.UUID:
        await change.execute("BEGIN")
        job = await change.fetchval(
            "UPDATE rag_jobs SET state = 'QUEUED', run_after = now() - interval '1 minute' WHERE job_id = ("
            "SELECT job_id FROM rag_jobs WHERE kind = 'ingest' AND state = 'DONE' LIMIT 1) RETURNING job_id"
        )
        await lock.execute("BEGIN")
        # It waits in line before any worker can see the job.
        waiting = asyncio.create_task(lock.execute(f"SELECT FROM rag_jobs WHERE job_id = '{job}' FOR UPDATE"))
        await asyncio.sleep(0.2)
        await change.execute("COMMIT")
        await waiting
        return job

    with asyncio.Runner() as runner:
        change, lock = (runner.run(asyncpg.connect(url)) for _ in range(2))
        job = runner.run(hold(change, lock))
        try:
            yield
        finally:
            runner.run(lock.execute(f"UPDATE rag_jobs SET state = 'DONE' WHERE job_id = '{job}'; COMMIT"))
            for one in (change, lock):
                runner.run(one.close())


def look_outside(it: Product) -> None:
    """A search in a file, a crawl of a host that workers must not read, and a question that names an address which
    nobody may ask, as the file does: all are refused before anything is dialled.
    """
    workspace = it.workspace("outside")
    it.graphql("mutation { setFeature(flag: WEB_ACCESS, on: true) { __typename } }")
    it.graphql(ALLOW_WEB, id=workspace)
    for root, wish in (("searchWeb", 'query: "valves"'), ("crawl", 'urls: ["https://docs.example.com/"]')):
        asked = f"mutation ($id: ID!) {{ {root}(input: {{workspaceId: $id, {wish}}}) {{ userErrors {{ code }} }} }}"
        assert it.graphql(asked, id=workspace)[root] == {"userErrors": []}
    it.execute(SLOW_RUNS)
    it.graphql("query ($id: ID!) { gateStatus(workspaceId: $id) { mode } }", id=workspace)
    asking = it.workspace("asking")
    it.graphql(ALLOW_WEB, id=asking)
    it.upload(asking, "valves.md", TEXT)
    assert it.ask(asking, "What does http://localhost/valves say of the Brannvik tug?").status_code == 200


def entry_of(queues: redis.Redis, workspace: str) -> bytes:
    """The key of a workspace's one cached answer; empty while there is none."""
    keys = queues.scan_iter(f"*:cache:{{*:{decode(workspace).workspace_id}}}:*")
    return next((key for key in keys if queues.type(key) == b"string"), b"")


def test_every_metric_moves_and_comes_to_rest(product: Product) -> None:
    wait_until(lambda: len(product.leading()) == 1, "one worker leads a system that has no document and no job", 20)
    assert not any("rag_jobs{" in metrics_of(address) for address in product.workers)
    workspace = raise_every_metric(product)

    def unmoved() -> list[str]:
        """The processes are new: what moved is not 0. The graph falls behind again and again, for it is caught up."""
        product.execute("UPDATE rag_workspaces SET graph_version = 0 WHERE corpus_version > 0")
        product.samples()
        now = product.peaks
        return [one.name for one in METRICS if not now.get(one.name, 0.0) + now.get(f"{one.name}_count", 0.0)]

    with a_job_that_waits(product.database_url):
        with suppress(AssertionError):
            wait_until(lambda: not unmoved(), "every metric moves", 30)
        assert unmoved() == []
    comes_to_rest(product, workspace)
    [former] = product.leading()
    stopped = product.workers[former]
    stopped.send_signal(signal.SIGSTOP)
    (follower,) = product.workers.keys() - {former}
    product.execute(f"SELECT pg_terminate_backend(pid) FROM ({LEADERS}) leaders")
    wait_until(lambda: "rag_documents{" in metrics_of(follower), "the other worker leads", 20)
    stopped.send_signal(signal.SIGCONT)
    wait_until(lambda: product.leading() == [follower], "the former leader exports no counts", 20)


def comes_to_rest(it: Product, workspace: str) -> None:
    """Under one leader, so that none falls for being exported no more."""
    assert {one.name for one in METRICS if one.kind is MetricKind.GAUGE} == COMES_BACK.keys() | STAYS
    for letter in it.graphql(DEAD, id=workspace)["deadLetters"]["nodes"]:
        it.graphql("mutation ($id: ID!) { purgeDeadLetter(id: $id) { userErrors { code } } }", id=letter["id"])
    for one in it.graphql(DOCUMENTS, workspace=workspace)["documents"]["nodes"]:
        it.graphql(DELETE, id=one["id"])
    for statement in LATER:
        it.execute(statement)
    rested: set[str] = set()

    def restless() -> set[str]:
        now = it.samples()
        rested.update(name for name, what in COMES_BACK.items() if now.get(what) == 0 and it.peaks[what] > 0)
        return COMES_BACK.keys() - rested

    with suppress(AssertionError):
        wait_until(lambda: not restless(), "every gauge is 0 again", 45)
    assert restless() == set()
