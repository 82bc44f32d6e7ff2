"""`rag doc`, `job`, `workspace`: lists, single things, deletion."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest
from tests.memory_store.session.state import Tombstone
from tests.unit.cli.product import HANDBOOK, NOW, Product, Terminal, document, job, workspace

from agentic_rag.documents.document import DocumentFault, DocumentStatus, document_id_for
from agentic_rag.ingestion.live.cancel_job import CancelOutcome
from agentic_rag.jobs.job import JobKind, JobState
from agentic_rag.kernel.public_ids import NodeKind, encode
from agentic_rag.workspaces.organisation import FeatureFlag

FAILED = document("b.pdf", 101, DocumentStatus.FAILED, DocumentFault("PARSE_NO_TEXT", "No text in it.", 1, False), 0)


def terminal() -> Terminal:
    return Terminal(Product(held=[document("a.md", 100), FAILED]))


def test_documents_are_listed_with_status_and_fault() -> None:
    shown = terminal().rag("doc", "list").stdout

    assert "READY   3       a.md" in shown
    assert "FAILED  0       b.pdf     [PARSE_NO_TEXT] No text in it." in shown


def test_documents_can_be_filtered_by_status() -> None:
    rows = json.loads(terminal().rag("doc", "list", "--status", "failed", "--json").stdout)

    assert [row["sourcePath"] for row in rows] == ["b.pdf"]
    assert rows[0]["error"] == {"code": "PARSE_NO_TEXT", "message": "No text in it.", "attempts": 1, "retryable": False}


def test_a_long_list_is_read_page_by_page_up_to_the_limit() -> None:
    many = Terminal(Product(held=[document(f"{number:03}.md", number + 1) for number in range(250)]))

    rows = json.loads(many.rag("doc", "list", "--limit", "230", "--json").stdout)

    assert [row["sourcePath"] for row in rows] == [f"{number:03}.md" for number in range(230)]


def test_a_document_is_found_by_path_by_public_id_and_by_bare_id() -> None:
    public = encode(NodeKind.DOCUMENT, UUID(int=1), UUID(int=100))

    for wanted in ("a.md", public, str(UUID(int=100))):
        shown = terminal().rag("doc", "show", wanted, "--json")
        assert json.loads(shown.stdout)["id"] == public


@pytest.mark.parametrize("command", [("doc", "show"), ("doc", "delete"), ("doc", "reingest")])
def test_a_public_id_says_which_of_several_workspaces_is_meant(command: tuple[str, str]) -> None:
    several = Product(held=[document("a.md", 100)], known=[workspace("demo", 2), workspace("handbook", 1)])
    public = encode(NodeKind.DOCUMENT, UUID(int=1), UUID(int=100))

    assert Terminal(several).rag(*command, public).exit_code == 0
    assert "[WORKSPACE_AMBIGUOUS]" in Terminal(several).rag(*command, "a.md").stderr


def test_an_id_of_a_workspace_that_is_not_there_says_nothing_about_which_one_is_meant() -> None:
    several = Product(held=[document("a.md", 100)], known=[workspace("demo", 2), workspace("other", 3)])

    refused = Terminal(several).rag("doc", "show", encode(NodeKind.DOCUMENT, UUID(int=9), UUID(int=100)))

    assert "[WORKSPACE_AMBIGUOUS]" in refused.stderr


def test_an_unknown_document_is_not_found() -> None:
    refused = terminal().rag("doc", "show", "zzz.md")

    assert refused.exit_code == 1
    assert "[DOCUMENT_NOT_FOUND]" in refused.stderr


def test_deleting_says_what_was_removed_from_each_store() -> None:
    shown = terminal().rag("doc", "delete", "a.md")
    counted = json.loads(terminal().rag("doc", "delete", "a.md", "--json").stdout)

    assert "deleted a.md: revisions 1, chunks 3, vectors 3" in shown.stdout
    assert counted["removed"]["blobs"] == 1
    assert all(type(count) is int for count in counted["removed"].values())
    assert counted["corpusVersion"] == 8


def test_deleting_says_what_no_erasure_reaches_and_why() -> None:
    shown = terminal().rag("doc", "delete", "a.md")

    assert "is followed" not in shown.stdout
    assert "not covered: Backups of database, blob store or volumes taken before the erasure still hold" in shown.stderr


def test_dead_letters_are_jobs_in_state_dead() -> None:
    rows = json.loads(terminal().rag("job", "list", "--state", "DEAD", "--json").stdout)

    assert rows[0]["error"] == {"code": "PARSE_CORRUPT", "message": "It is damaged."}
    assert json.loads(terminal().rag("job", "list", "--state", "DONE", "--json").stdout) == []
    assert "PARSE_CORRUPT" in terminal().rag("job", "show", rows[0]["id"]).stdout


@pytest.mark.parametrize(("state", "shown"), [(JobState.RUNNING, True), (JobState.DONE, False)])
def test_only_a_job_that_runs_shows_how_many_steps_it_has_done(state: JobState, shown: bool) -> None:
    told = Terminal(Product(stored_jobs=[job(state)])).rag("job", "show", str(UUID(int=700))).stdout

    assert ("progress" in told) is shown


@pytest.mark.parametrize(
    ("outcome", "code", "text"),
    [
        (CancelOutcome.CANCELLED, 0, "Cancelled."),
        (CancelOutcome.ALREADY_ENDED, 0, "It had ended."),
        (CancelOutcome.NOT_CANCELLABLE, 2, "[JOB_NOT_CANCELLABLE]"),
    ],
)
def test_a_job_is_cancelled_where_its_work_may_stop(outcome: CancelOutcome, code: int, text: str) -> None:
    told = Terminal(Product(cancellation=outcome)).rag("job", "cancel", str(UUID(int=700)))

    assert told.exit_code == code
    assert text in told.stdout + told.stderr


def test_workspaces_are_made_and_listed_with_the_ids_of_the_api() -> None:
    at = terminal()

    made = json.loads(at.rag("workspace", "create", "reports", "--json").stdout)
    rows = json.loads(at.rag("workspace", "list", "--json").stdout)

    assert [row["name"] for row in rows] == ["handbook", "reports"]
    assert rows[1]["id"] == made["id"]
    assert "reports" in at.rag("workspace", "list").stdout


def test_a_workspace_shows_and_changes_how_long_it_keeps_what_is_past() -> None:
    at = terminal()

    changed = json.loads(at.rag("workspace", "keep", "handbook", "--runs-days", "90", "--json").stdout)
    shown = at.rag("workspace", "keep", "handbook").stdout

    assert changed == {"historyDays": None, "runsDays": 90, "jobsDays": None, "usageDays": None, "auditDays": None}
    assert "90" in shown
    assert "default" in shown
    assert at.rag("workspace", "keep", "handbook", "--jobs-days", "1").exit_code == 2


def test_a_workspace_is_opened_to_the_web_and_closed_again() -> None:
    at = terminal()

    opened = at.rag(
        "workspace", "web", "handbook", "--allow", "--care", "0.7", "--recrawl-hours", "24", "--profile", "code"
    )
    closed = json.loads(at.rag("workspace", "web", "handbook", "--forbid", "--json").stdout)

    assert "allowed, care 0.7, profile code; its pages are asked for again within 24 h" in opened.stdout
    assert at.rag("workspace", "web", "handbook", "--allow", "--profile", "new").exit_code == 2
    web = {"allow": False, "care": 0.5, "recrawlHours": 24, "profile": "CODE", "seeds": []}
    assert closed == {**web, "purgedCrawls": 0}


def test_closing_a_workspace_or_its_organisation_to_the_web_says_how_many_crawls_that_cancelled() -> None:
    crawls = [
        replace(job(state), job_id=UUID(int=number), kind=JobKind.CRAWL)
        for number, state in enumerate((JobState.QUEUED, JobState.RUNNING, JobState.DONE), 1)
    ]
    for closing in (
        ("workspace", "web", "handbook", "--forbid"),
        ("tenant", "set", "embedded", "--feature", "webAccess=off"),
    ):
        at = Terminal(Product(stored_jobs=[*crawls, job(JobState.QUEUED)]))
        opened = at.rag("workspace", "web", "handbook", "--allow", "--organisation")

        closed, again = at.rag(*closing), json.loads(at.rag(*closing, "--json").stdout)

        assert "cancelled" not in opened.stdout
        assert "crawls cancelled: 2" in closed.stdout
        assert again["purgedCrawls"] == 0
        states = sorted(one.state.value for one in at.product.jobs())
        assert states == ["CANCELLED", "CANCELLED", "DONE", "QUEUED"]


def test_one_command_opens_a_workspace_and_its_organisation_and_names_what_searches_add() -> None:
    at = terminal()
    named = at.rag("workspace", "web", "handbook", "--allow", "--organisation", "--seed", "Acme", "--seed", "Oslo")
    kept = at.rag("workspace", "web", "handbook", "--allow")
    taken = json.loads(at.rag("workspace", "web", "handbook", "--allow", "--seed", "", "--json").stdout)

    assert "searches add Acme, Oslo" in named.stdout
    assert "searches add Acme, Oslo" in kept.stdout
    assert taken["seeds"] == []
    [state] = at.product.store.organisations.values()
    assert state.organisation is not None
    assert state.organisation.settings.is_on(FeatureFlag.WEB_ACCESS)


@pytest.mark.parametrize("name", ["", "   ", "two\nlines", "n" * 201])
def test_a_name_that_cannot_be_told_on_a_screen_is_refused(name: str, tmp_path: Path) -> None:
    for command in (("workspace", "create", name), ("ingest", "--source", str(tmp_path), "--workspace", name)):
        at = terminal()

        shown = at.rag(*command)

        assert shown.exit_code == 2
        assert "error [INVALID_INPUT]" in shown.stderr
        assert [row["name"] for row in json.loads(at.rag("workspace", "list", "--json").stdout)] == ["handbook"]


def test_deleting_shows_the_certificate_and_what_it_does_not_cover() -> None:
    counted = json.loads(terminal().rag("doc", "delete", "a.md", "--json").stdout)
    told = terminal().rag("doc", "delete", "a.md").stderr

    assert counted["certificate"]["complete"] is True
    assert counted["certificate"]["stores"][0] == {"store": "chunks", "count": 3, "done": True}
    assert "erasure holds the document. (2025-03-14 09:30:00 UTC)" in told


def test_an_erasure_is_proven_by_the_path_of_a_document_that_is_gone() -> None:
    at = terminal()
    erased = document_id_for(HANDBOOK, "old.md")
    at.product.store.committed[HANDBOOK].tombstones[erased] = Tombstone(7, NOW, (), (), 0)

    shown = at.rag("doc", "prove-erased", "old.md")

    assert shown.exit_code == 0
    assert "old.md: erased since 2025-03-14" in shown.stdout
    assert at.product.proven == [erased]


def test_nothing_is_proven_of_a_path_where_there_never_was_a_document() -> None:
    at = terminal()

    shown = at.rag("doc", "prove-erased", "never.md")

    assert shown.exit_code == 1
    assert "No document stands at 'never.md', and none was erased there." in shown.stderr
    assert at.product.proven == []


def test_a_live_document_is_not_proven_erased() -> None:
    shown = terminal().rag("doc", "prove-erased", str(UUID(int=100)), "--json")

    assert shown.exit_code == 1
    assert json.loads(shown.stdout)["findings"][0]["kind"] == "DOCUMENT_LIVE"


def test_documents_are_ingested_again_one_by_one_or_all_that_failed() -> None:
    one = terminal().rag("doc", "reingest", "a.md")
    failed = json.loads(terminal().rag("doc", "reingest", "--all-failed", "--json").stdout)

    assert "queued: a.md" in one.stdout
    assert [row["sourcePath"] for row in failed] == ["b.pdf"]


def test_a_document_that_is_ingested_again_or_deleted_keeps_to_its_line() -> None:
    forging = replace(FAILED, source_path="b\nqueued: c.md")
    of_it = Terminal(Product(held=[forging]))

    queued = of_it.rag("doc", "reingest", "--all-failed").stdout
    deleted = of_it.rag("doc", "delete", "b\nqueued: c.md").stdout

    assert queued.splitlines() == ["queued: b\\nqueued: c.md"]
    assert deleted.startswith("deleted b\\nqueued: c.md: ")


@pytest.mark.parametrize("arguments", [(), ("a.md", "--all-failed"), ("--all-failed", "--force")])
def test_reingest_asks_for_exactly_one_of_its_ways(arguments: tuple[str, ...]) -> None:
    assert terminal().rag("doc", "reingest", *arguments).exit_code == 2


def test_a_workspace_is_shared_with_those_named_and_with_all_again() -> None:
    at = terminal()

    named = at.rag("workspace", "share", "handbook", "--reader", "group:people", "--writer", "user:ada")
    writers = at.rag("workspace", "share", "handbook", "--everyone", "--writer", "user:ada", "--json")
    unsaid = at.rag("workspace", "share", "handbook")
    wrong = at.rag("workspace", "share", "handbook", "--reader", "ada")

    assert named.stdout == "handbook: readers: group:people; writers: user:ada\n"
    assert [json.loads(writers.stdout)[name] for name in ("readers", "writers")] == [None, ["user:ada"]]
    assert unsaid.exit_code == 2
    assert "Write `user:NAME`, `key:NAME`, `group:NAME`" in wrong.stderr


def test_a_workspace_says_which_passages_its_searches_bring() -> None:
    at = terminal()

    begun = at.rag("workspace", "passages", "handbook").stdout
    changed = json.loads(at.rag("workspace", "passages", "handbook", "--rerank", "3", "--json").stdout)
    further = at.rag("workspace", "passages", "handbook", "--top-k", "6", "--min-similarity", "0.5").stdout

    assert "at most 8 passages, similarity from 0 on; their order is that of the search" in begun
    assert changed == {"topK": 8, "similarityThreshold": 0.0, "rerank": 3}
    assert "at most 6 passages, similarity from 0.5 on; the reader orders the first 3" in further
    assert at.rag("workspace", "passages", "handbook", "--rerank", "9").exit_code == 2
    assert "`rerank` takes 0 or 2 to 4." in at.rag("workspace", "passages", "handbook", "--rerank", "1").output
