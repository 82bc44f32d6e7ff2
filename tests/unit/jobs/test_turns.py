"""Whose turn it is, as laws: organisations alternate, then their workspaces, and who was served last comes last."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.jobs.job import JobRef
from agentic_rag.jobs.turns import REMEMBERED, LastTurns, WaitingWorkspace, take_turns
from agentic_rag.tenancy.principals import WorkspaceRef

BEGAN = datetime(2026, 3, 1, tzinfo=UTC)


def workspace(org: int, number: int) -> WorkspaceRef:
    return WorkspaceRef(UUID(int=org), UUID(int=1_000 * org + number))


def waits(one: WorkspaceRef, age: int = 0) -> WaitingWorkspace:
    return WaitingWorkspace(one, BEGAN - timedelta(seconds=age))


crowds = st.lists(st.builds(workspace, st.integers(1, 4), st.integers(1, 8)), min_size=1, max_size=20, unique=True)


@given(crowds, st.integers(1, 60))
def test_organisations_alternate_and_inside_one_its_workspaces(crowd: list[WorkspaceRef], limit: int) -> None:
    turns = take_turns([waits(one) for one in crowd], LastTurns(), limit, {})

    by_org = Counter(one.org_id for one in turns)
    assert len(turns) == limit
    assert max(by_org.values()) - min(by_org[one.org_id] for one in crowd) <= 1
    for org_id in by_org:
        inside = Counter(one for one in turns if one.org_id == org_id)
        assert max(inside.values()) - min(inside[one] for one in crowd if one.org_id == org_id) <= 1


@given(crowds, st.data())
def test_nobody_is_served_more_jobs_than_it_has_and_no_turn_is_lost(
    crowd: list[WorkspaceRef], data: st.DataObject
) -> None:
    known = {one: data.draw(st.integers(0, 3)) for one in crowd}

    turns = take_turns([waits(one) for one in crowd], LastTurns(), 100, known)

    assert Counter(turns) == {one: count for one, count in known.items() if count}


def test_who_was_served_longest_ago_comes_first_whatever_its_age() -> None:
    served, never = workspace(1, 1), workspace(2, 1)
    last = LastTurns()
    last.note(JobRef(served, UUID(int=1)))

    assert take_turns([waits(served, 900), waits(never)], last, 3, {}) == [never, served, never]


def test_inside_an_organisation_the_workspace_served_longest_ago_comes_first_whatever_its_age() -> None:
    served, never = workspace(1, 1), workspace(1, 2)
    last = LastTurns()
    last.note(JobRef(served, UUID(int=1)))

    assert take_turns([waits(served, 900), waits(never)], last, 3, {}) == [never, served, never]


def test_never_served_the_oldest_job_comes_first() -> None:
    young, old = workspace(1, 1), workspace(2, 1)

    assert take_turns([waits(young, 1), waits(old, 2)], LastTurns(), 2, {}) == [old, young]


def test_the_memory_of_turns_is_bounded() -> None:
    last = LastTurns()

    for number in range(REMEMBERED + 10):
        last.note(JobRef(workspace(1, number), UUID(int=1)))

    assert len(last.turns) == REMEMBERED
    assert last.of(workspace(1, 0).workspace_id) == 0
    assert last.of(UUID(int=1)) == REMEMBERED + 10
