"""`rag dlq` and `rag audit` on the terminal."""

import asyncio
import json
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import httpx2
import pytest
from tests.unit.cli.product import Product, Terminal, document, job

from agentic_rag.jobs.job import JobAttempt, JobKind, JobState
from agentic_rag.jobs.message import StoredUndecodableMessage, UndecodableMessage
from agentic_rag.kernel.pagination import MAX_PAGE
from agentic_rag.kernel.public_ids import NodeKind, encode
from agentic_rag.tenancy.audit import AuditAction, AuditEntry, AuditRecord
from agentic_rag.tenancy.principals import DEFAULT_ORG_ID

FIRST, SECOND = UUID(int=700), UUID(int=701)
NOW = datetime(2026, 3, 1, tzinfo=UTC)


def terminal(**changes: object) -> Terminal:
    letters = [job(), replace(job(), job_id=SECOND, error_code="WORKER_LOST", kind=JobKind.DELETE)]
    return Terminal(Product(stored_jobs=letters, **changes))  # type: ignore[arg-type]


def test_dead_letters_are_chosen_by_code_and_kind() -> None:
    at = terminal()

    by_code = json.loads(at.rag("dlq", "list", "--code", "WORKER_LOST", "--json").stdout)
    by_kind = json.loads(at.rag("dlq", "list", "--kind", "ingest", "--json").stdout)

    assert [row["kind"] for row in by_code] == ["delete"]
    assert [row["error"]["code"] for row in by_kind] == ["PARSE_CORRUPT"]
    assert "WORKER_LOST" in at.rag("dlq", "list").stdout


def test_a_letter_shows_what_went_wrong_in_each_attempt() -> None:
    shown = terminal().rag("dlq", "show", str(FIRST))
    as_json = json.loads(terminal().rag("dlq", "show", str(FIRST), "--json").stdout)

    assert "attempt 1 by host:1" in shown.stdout
    assert "ParseFailed: It is damaged." in shown.stdout
    assert as_json["attemptHistory"][0]["errorChain"] == ["ParseFailed: It is damaged."]


def test_a_letter_is_told_by_its_document() -> None:
    at = Terminal(Product(held=[document("reports/policy.md", 100)], stored_jobs=[job()]))

    for command in (("dlq", "list"), ("job", "list"), ("dlq", "show", str(FIRST))):
        assert "reports/policy.md" in at.rag(*command).stdout
    [row] = json.loads(at.rag("dlq", "list", "--json").stdout)
    assert row["document"]["sourcePath"] == "reports/policy.md"
    assert row["document"]["id"] == row["documentId"]


def test_work_without_a_document_is_told_by_its_key_and_a_missing_document_as_gone() -> None:
    jobs = [job(), replace(job(), job_id=SECOND, kind=JobKind.GRAPH, key="graph", document_id=None)]
    gone, whole = Terminal(Product(held=[], stored_jobs=jobs)).rag("job", "list").stdout.splitlines()[1:]

    assert gone.endswith("a document that is gone")
    assert whole.endswith("graph")


def test_an_attempt_whose_worker_died_says_so() -> None:
    lapsed = JobAttempt(1, "host:1", NOW, NOW, "LAPSED", "LEASE_LOST", ())

    shown = terminal(tries=(lapsed,)).rag("job", "show", str(FIRST)).stdout

    assert "LAPSED [LEASE_LOST] its worker was killed, hung or cut off" in shown


def test_a_purged_letter_says_that_the_text_of_its_error_was_removed() -> None:
    purged = replace(job(JobState.PURGED), error_message=None)

    shown = Terminal(Product(stored_jobs=[purged])).rag("dlq", "show", str(FIRST)).stdout

    assert "last error [PARSE_CORRUPT]: its text was removed" in shown
    assert "None" not in shown


def test_a_replay_of_all_tells_each_outcome_and_twice_is_once() -> None:
    at = terminal()

    first = at.rag("dlq", "replay", "--all", "--code", "PARSE_CORRUPT", "--json")
    second = at.rag("dlq", "replay", str(FIRST))

    assert [(row["state"], row["outcome"]) for row in json.loads(first.stdout)] == [("QUEUED", "REPLAYED")]
    assert (first.exit_code, second.exit_code) == (0, 0)
    assert second.stdout == "1 NOT_DEAD\n"
    assert {one.job_id: one.state for one in at.product.jobs()}[SECOND] is JobState.DEAD


def test_a_superseded_letter_makes_the_exit_code_partial() -> None:
    newer = replace(job(JobState.QUEUED), job_id=UUID(int=702))
    letters = [job(), replace(job(), job_id=SECOND, kind=JobKind.DELETE), newer]
    shown = Terminal(Product(stored_jobs=letters)).rag("dlq", "replay", "--all")

    assert shown.exit_code == 3
    assert shown.stdout == "1 REPLAYED, 1 SUPERSEDED\n"
    assert "SUPERSEDED, it is DEAD" in shown.stderr


def test_a_purge_removes_one() -> None:
    at = terminal()

    assert at.rag("dlq", "purge", str(FIRST)).stdout == "1 PURGED\n"
    states = {one.job_id: one.state for one in at.product.jobs()}
    assert states == {FIRST: JobState.PURGED, SECOND: JobState.DEAD}


@pytest.mark.parametrize("command", ["replay", "purge"])
@pytest.mark.parametrize("arguments", [(), ("--all", str(FIRST)), ("nonsense",)])
def test_one_must_say_which(command: str, arguments: tuple[str, ...]) -> None:
    assert terminal().rag("dlq", command, *arguments).exit_code == 2


def test_a_letter_that_is_not_there_fails() -> None:
    refused = terminal().rag("dlq", "replay", str(UUID(int=9)))

    assert refused.exit_code == 1
    assert "[JOB_NOT_FOUND]" in refused.stderr


def test_payloads_are_listed_and_forgotten() -> None:
    found = UndecodableMessage(
        "q:bulk", b"alien\xff", b"\x00\xff", "JOB_MESSAGE_INVALID", "It is no envelope of this queue."
    )
    at = terminal(stored_payloads=[StoredUndecodableMessage(found, 2, NOW, NOW)])

    [row] = json.loads(at.rag("dlq", "list", "--payloads", "--json").stdout)
    told = at.rag("dlq", "list", "--payloads").stdout
    gone = at.rag("dlq", "purge", "--payload", row["id"])
    again = at.rag("dlq", "purge", "--payload", row["id"])

    assert (row["base64"], row["entry"], row["deliveries"]) == ("AP8=", "alien\\xff", 2)
    assert "It is no envelope" in told
    assert (gone.exit_code, again.exit_code) == (0, 1)
    assert at.rag("dlq", "purge", "--payload", "x").exit_code == 2


def test_the_audit_log_is_shown() -> None:
    at = terminal()
    at.rag("dlq", "replay", str(FIRST))

    [row] = json.loads(at.rag("audit", "list", "--json").stdout)

    assert (row["action"], row["actor"]) == ("dead_letter.replay", "system:cli")
    assert row["subject"] == encode(NodeKind.JOB, UUID(int=1), FIRST)
    assert "dead_letter.replay" in at.rag("audit", "list").stdout


async def record_changes(at: Terminal, number: int) -> None:
    for one in range(number):
        async with at.product.database.transaction(DEFAULT_ORG_ID) as transaction:
            entry = AuditEntry(
                AuditAction.CHANGE_WORKSPACE, f"w{one}", "user:ada", detail={"before": str(one), "after": str(one + 1)}
            )
            await transaction.audit.record(entry)


def test_an_export_of_the_audit_log_has_every_entry_once_as_a_line() -> None:
    at = terminal()
    asyncio.run(record_changes(at, MAX_PAGE + 3))

    exported = at.rag("audit", "export")

    entries = [json.loads(line) for line in exported.stdout.splitlines()]
    assert exported.exit_code == 0
    assert [one["subject"] for one in entries] == [f"w{one}" for one in reversed(range(MAX_PAGE + 3))]
    assert entries == json.loads(at.rag("audit", "list", "--limit", "1000", "--json").stdout)
    assert {*entries[0]} == {"createdAt", "actor", "action", "subject", "workspaceId", "detail", "traceId", "caller"}
    assert entries[0]["detail"] == {"before": str(MAX_PAGE + 2), "after": str(MAX_PAGE + 3)}


def test_an_export_that_breaks_off_has_printed_what_it_read_and_goes_on_there() -> None:
    """A log may have more entries than memory bears."""
    at = terminal()
    asyncio.run(record_changes(at, MAX_PAGE + 3))
    every = at.rag("audit", "export").stdout.splitlines()
    asked: list[object] = []

    def first_page_only(request: httpx2.Request) -> httpx2.Response:
        asked.append(request)
        if len(asked) > 1:
            raise httpx2.ConnectError("gone", request=request)
        rows = [json.loads(line) for line in every[:MAX_PAGE]]
        nodes = [{**one, "detail": [{"name": key, "value": it} for key, it in one["detail"].items()]} for one in rows]
        page = {"nodes": nodes, "pageInfo": {"hasNextPage": True, "endCursor": "c"}}
        return httpx2.Response(200, json={"data": {"auditLog": page}})

    away = Terminal(environ={"AGENTIC_RAG_TOKEN": "t"}, transport=httpx2.MockTransport(first_page_only))
    broken = away.rag("audit", "export", "--url", "http://127.0.0.1:1")
    read = broken.stdout.splitlines()
    rest = at.rag("audit", "export", "--until", json.loads(read[-1])["createdAt"]).stdout.splitlines()

    assert broken.exit_code == 4
    assert "SERVER_UNREACHABLE" in broken.stderr
    assert len(read) == MAX_PAGE
    assert read + rest == every
    assert at.rag("audit", "export", "--since", json.loads(every[0])["createdAt"]).stdout.splitlines() == every[:1]


@pytest.mark.parametrize(
    ("action", "detail", "expected"),
    [
        ("document.upload", {}, encode(NodeKind.DOCUMENT, UUID(int=1), UUID(int=7))),
        ("dead_letter.purge", {}, encode(NodeKind.JOB, UUID(int=1), UUID(int=7))),
        ("snapshot.create", {}, encode(NodeKind.SNAPSHOT, UUID(int=1), UUID(int=7))),
        ("snapshot.restore", {"source": str(UUID(int=2))}, encode(NodeKind.SNAPSHOT, UUID(int=2), UUID(int=7))),
        ("embeddings.switch", {}, str(UUID(int=7))),
    ],
)
def test_the_subject_of_an_act_is_the_id_that_lists_of_such_things_show(
    action: str, detail: dict[str, str], expected: str
) -> None:
    record = AuditRecord(UUID(int=9), NOW, action, str(UUID(int=7)), "ada", UUID(int=1), detail, None)

    assert record.public_subject == expected
