import pytest
from graphql import parse

from agentic_rag.workspaces.rate_limits import Traffic
from agentic_rag_server.graphql.http.limits import demand_of

ASK, WRITE, READ = Traffic.ASK, Traffic.WRITE, Traffic.READ


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ("{ workspaces { id } organisation { name } }", {READ: 1}),
        ("mutation { ragAnswer(input: {}) { answer } }", {ASK: 1}),
        ("{ explainRun(id: 1) { id } }", {ASK: 1}),
        ("{ explainRun(id: 1) { id } organisation { name } }", {ASK: 1, READ: 1}),
        ("mutation { a: setFeature { on } b: setFeature { on } }", {WRITE: 2}),
        ("mutation { ...F } fragment F on Mutation { ragAnswer { run } ... { setFeature } }", {ASK: 1, WRITE: 1}),
    ],
)  # fmt: skip
def test_an_operation_counts_by_its_root_fields(document: str, expected: dict[Traffic, int]) -> None:
    demand = demand_of(parse(document), None)

    assert {traffic: count for traffic, count in demand.items() if count} == expected


def test_only_the_operation_that_runs_counts() -> None:
    document = parse("query A { organisation { name } } mutation B { setFeature { on } }")

    assert +demand_of(document, "B") == {WRITE: 1}  # type: ignore[operator]
