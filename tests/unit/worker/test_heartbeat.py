"""Who may keep a lease: a job that moves, inside its deadline."""

from datetime import UTC, datetime
from uuid import uuid4

from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.jobs.job import Job, JobKind, JobState, Lease, QueueName
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_worker.heartbeat import JobWatch, StopReason

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def watched(deadline: float, stall: float) -> tuple[JobWatch, list[str]]:
    job = Job(
        WorkspaceRef(uuid4(), uuid4()), uuid4(), JobKind.INGEST, "key", JobState.RUNNING, QueueName.BULK, {}, 1, None,
        None, None, 0, {}, NOW, NOW, NOW,
    )  # fmt: skip
    stopped: list[str] = []
    return JobWatch(Lease(job, 1, NOW), deadline, stall, 0.0, lambda: stopped.append("stopped")), stopped


def test_a_job_that_stands_still_is_stalled() -> None:
    watch, _ = watched(deadline=100, stall=10)

    assert watch.check(9.9) is None
    assert watch.check(10.0) is StopReason.STALLED


def test_a_job_that_moves_is_given_time_again() -> None:
    watch, _ = watched(deadline=100, stall=10)
    watch.advance()

    assert watch.check(9.0) is None
    assert watch.check(18.9) is None
    assert watch.check(19.0) is StopReason.STALLED


@given(st.lists(st.floats(0, 10), max_size=20))
def test_however_much_it_moves_its_deadline_holds(pauses: list[float]) -> None:
    watch, _ = watched(deadline=50, stall=1_000)
    now = 0.0
    for pause in pauses:
        now += pause
        watch.advance()
        assert (watch.check(now) is StopReason.LATE) == (now >= 50)


def test_the_first_verdict_stops_the_job_and_later_ones_do_not_replace_it() -> None:
    watch, stopped = watched(deadline=1, stall=1)

    watch.end(StopReason.LOST)
    watch.end(StopReason.DRAINED)

    assert watch.stop_reason is StopReason.LOST
    assert stopped == ["stopped"]
