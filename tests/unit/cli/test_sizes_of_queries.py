"""The command line asks for no more objects at once than the server brings."""

import importlib
import pkgutil

import pytest
from graphql import parse

from agentic_rag.kernel.pagination import MAX_PAGE
from agentic_rag.operations.calibrate import MOST_PASSAGES
from agentic_rag_cli import client
from agentic_rag_cli.client import thread_queries
from agentic_rag_cli.commands.answering.thread import PAGE
from agentic_rag_server.graphql.http.rows import require_few_rows

MODULES = [one.name for one in pkgutil.iter_modules(client.__path__) if one.name.endswith("queries")]
QUERIES = {
    f"{module}.{name}": text
    for module in MODULES
    for name, text in vars(importlib.import_module(f"{client.__name__}.{module}")).items()
    if isinstance(text, str) and text.strip().startswith(("query", "mutation", "subscription"))
}
MOST = dict.fromkeys(QUERIES, MAX_PAGE) | {"thread_queries.THREAD": PAGE}


def test_the_queries_are_found() -> None:
    assert len(QUERIES) > 100
    assert thread_queries.THREAD in QUERIES.values()


@pytest.mark.parametrize("name", QUERIES)
def test_every_query_at_its_largest_is_answered(name: str) -> None:
    given = {"first": MOST[name], "most": MOST_PASSAGES}
    require_few_rows(parse(QUERIES[name].replace("%s", "id")), None, given)
