"""The retry policy's laws, the legal moves of a job, and what travels and is written down."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.jobs.job import (
    LAPSED,
    GiveUp,
    IsolationDecision,
    JobAttempt,
    JobRef,
    Retry,
    RetryPolicy,
)
from agentic_rag.jobs.message import decode, delivery_id, encode
from agentic_rag.kernel.error_redaction import MAX_MESSAGE, error_chain, redact
from agentic_rag.kernel.errors import DependencyUnavailable, InvalidInput, Permanent, Retryable
from agentic_rag.tenancy.principals import WorkspaceRef

policies = st.builds(
    RetryPolicy, attempts=st.integers(1, 10), backoff_ms=st.integers(1, 60_000), ceiling_ms=st.integers(1, 600_000)
)
jitters = st.floats(0, 1, exclude_max=True)


@given(policies, st.integers(1, 50), jitters)
def test_a_permanent_failure_is_given_up_at_once(policy: RetryPolicy, made: int, jitter: float) -> None:
    assert policy.decide(Permanent("no"), made, jitter) == GiveUp()


@given(policies, st.integers(0, 50), jitters)
def test_no_job_gets_more_attempts_than_the_policy_grants(policy: RetryPolicy, more: int, jitter: float) -> None:
    assert policy.decide(Retryable("busy"), policy.attempts + more, jitter) == GiveUp()


@given(policies, st.integers(1, 50), jitters)
def test_a_transient_failure_waits_within_the_growing_ceiling(policy: RetryPolicy, made: int, jitter: float) -> None:
    decision = policy.decide(DependencyUnavailable("away", dependency="redis"), made, jitter)

    if made >= policy.attempts:
        assert decision == GiveUp()
    else:
        assert isinstance(decision, Retry)
        assert 0 <= decision.delay_seconds <= min(policy.ceiling_ms, policy.backoff_ms * 2 ** (made - 1)) / 1000


@given(policies, st.integers(0, 10_000), jitters)
def test_an_erasure_waits_for_a_store_within_the_ceiling_and_for_nothing_else_beyond_its_attempts(
    policy: RetryPolicy, more: int, jitter: float
) -> None:
    made, away = policy.attempts + more, DependencyUnavailable("away", dependency="blob_store")

    decision = policy.decide(away, made, jitter, is_erasure=True)

    assert isinstance(decision, Retry)
    assert 0 <= decision.delay_seconds <= policy.ceiling_ms / 1000
    assert policy.decide(Retryable("busy"), made, jitter, is_erasure=True) == GiveUp()
    assert policy.decide(Permanent("no"), made, jitter, is_erasure=True) == GiveUp()


@given(jitters, st.floats(0, 10_000))
def test_a_stated_wait_is_never_cut_short(jitter: float, stated: float) -> None:
    decision = RetryPolicy(3, 5_000).decide(Retryable("slow down", retry_after_seconds=stated), 1, jitter)

    assert isinstance(decision, Retry)
    assert decision.delay_seconds >= stated


def attempts(*outcomes: str | None) -> list[JobAttempt]:
    began = datetime(2026, 1, 1, tzinfo=UTC)
    return [JobAttempt(n, "worker", began, None, outcome, None, ()) for n, outcome in enumerate(outcomes, 1)]


@pytest.mark.parametrize(
    ("earlier", "standing"),
    [
        ([], IsolationDecision.SHARED),
        ([LAPSED], IsolationDecision.SHARED),
        (["RETRY", "RETRY"], IsolationDecision.SHARED),
        ([LAPSED, LAPSED], IsolationDecision.ALONE),
        ([LAPSED, None], IsolationDecision.ALONE),
        (["RETRY", LAPSED], IsolationDecision.ALONE),
        ([LAPSED, "RETRY"], IsolationDecision.ALONE),
        ([LAPSED, LAPSED, LAPSED], IsolationDecision.POISONED),
        (["RETRY", "RETRY", LAPSED], IsolationDecision.ALONE),
        (["RETRY", "RETRY", LAPSED, LAPSED], IsolationDecision.POISONED),
    ],
)
def test_the_last_of_three_attempts_runs_alone_once_a_worker_was_lost(
    earlier: list[str | None], standing: IsolationDecision
) -> None:
    assert RetryPolicy(3, 10).decide_isolation(attempts(*earlier)) is standing


@given(policies, st.lists(st.sampled_from([LAPSED, "RETRY"]), max_size=12))
def test_a_job_is_convicted_only_of_a_worker_it_had_to_itself(policy: RetryPolicy, ends: list[str]) -> None:
    """Whatever happens to its attempts, it ends within one more than its allowance."""
    standings: list[IsolationDecision] = []
    for made, end in enumerate([*ends, *[LAPSED] * 12]):
        standing = policy.decide_isolation(attempts(*[*ends, *[LAPSED] * 12][:made]))
        if standing is IsolationDecision.POISONED:
            break
        standings.append(standing)
        if end == "RETRY" and made + 1 >= policy.attempts:
            return  # an error in the last attempt is given up
    assert standings[-1] is IsolationDecision.ALONE
    assert policy.attempts <= len(standings) <= policy.attempts + 1


@given(st.uuids(), st.uuids(), st.uuids(), st.integers(0, 2**63 - 1))
def test_a_message_reads_back_as_the_job_it_names(org, workspace, job, turn) -> None:  # type: ignore[no-untyped-def]
    ref = JobRef(WorkspaceRef(org, workspace), job, turn)

    read = decode(encode(ref))

    assert (read, read.fence) == (ref, turn)
    assert delivery_id(ref) != delivery_id(JobRef(ref.workspace, job, turn + 1))


@given(st.one_of(st.text(), st.none(), st.integers(), st.binary(), st.just("[]"), st.just('{"org":1}')))
def test_anything_else_is_no_message(message: object) -> None:
    with pytest.raises(InvalidInput):
        decode(message)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("postgres://rag:hunter2@db/x", "hunter2"),
        ("Authorization: Bearer abcdefgh12345", "abcdefgh12345"),
        ('{"api_key": "verysecret"}', "verysecret"),
        ("Incorrect API key provided: sk-proj-abcdefghijklmnop", "abcdefghijklmnop"),
        ("password=hunter2 host=db", "hunter2"),
        ("token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.c2ln", "c2ln"),
    ],
)
def test_secrets_are_blotted_out(text: str, secret: str) -> None:
    assert secret not in redact(text)


@given(st.lists(st.characters() | st.sampled_from("\ud800\udc80\udfff")).map("".join))
def test_what_is_written_down_is_bounded_and_storable(text: str) -> None:
    kept = redact(text * 50)

    assert len(kept) <= MAX_MESSAGE
    assert "\x00" not in kept
    assert kept.encode().decode() == kept


def test_a_chain_names_every_cause_once_even_in_a_circle() -> None:
    inner, outer = ValueError("inner"), Retryable("outer", code="BUSY")
    outer.__cause__, inner.__cause__ = inner, outer

    assert error_chain(outer) == ("Retryable [BUSY]: outer", "ValueError: inner")
