"""How many objects a query may bring: the product of `first` along each path, with the lists inside.

Counted before any field runs, with the variables of the request, since `first` mostly is one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphql import (
    ArgumentNode,
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    InlineFragmentNode,
    IntValueNode,
    OperationDefinitionNode,
    SelectionSetNode,
    VariableNode,
    Visitor,
    visit,
)

from agentic_rag.kernel.pagination import MAX_PAGE
from agentic_rag_server.graphql.http.limits import LIMIT_CODE

MAX_ROWS = 2_000

DEFAULT_PAGE = 50
PAGED = frozenset(
    {"auditLog", "deadLetters", "documentChunks", "documents", "jobs", "runs", "threads", "undecodableMessages"}
)
"""Fields with `first`, which is `DEFAULT_PAGE` where it is left out."""

_HOW_MANY = frozenset({"first", "most"})
"""Arguments that say how many objects a field brings."""

LISTS: Mapping[str, int] = {
    # Of answers and runs.
    "candidates": 50, "passages": 50, "citations": 10, "citationsAdded": 10, "citationsRemoved": 10, "nearest": 5,
    "scores": 3, "path": 3, "answerSpans": 2, "stages": 20, "timings": 20, "subQuestions": 3, "tools": 2,
    "toolCalls": 2, "fetchedPages": 2, "usage": 5, "feedback": 3, "checks": 20, "whyNot": 10, "searches": 5,
    "savedQuestions": 50, "contextTemplates": 20, "samplePassages": 100, "results": 10,
    # Of the gate.
    "gateCases": 50, "signals": 20, "contributions": 20, "thresholds": 8, "downgrades": 4, "counterfactuals": 4,
    "changes": 4, "gateEvaluation": 10, "windows": 12, "deploys": 5, "differences": 20, "byPlan": 10, "byIntent": 10,
    "byVersion": 5, "byMode": 3, "causes": 10,
    # Of documents.
    "text": 300, "provenance": 5, "fields": 3, "parts": 3, "entities": 20, "neighbours": 24, "chunks": 20,
    "crawlPages": 50, "sources": 50, "unreadable": 10, "stores": 12, "notCovered": 5, "kept": 10,
    "pastCertificates": 3, "findings": 50, "settling": 10, "counts": 20,
    # Of what is managed.
    "workers": 10, "attemptHistory": 8, "arguments": 5, "workspaces": 50, "workspaceErasures": 20, "tenants": 100,
    "features": 10, "apiKeys": 50, "providerKeys": 8, "embeddingSpaces": 4, "budgets": 10, "webBudgets": 10,
    "snapshots": 20, "storedSnapshots": 20, "lines": 50, "detail": 5, "kinds": 8, "figures": 20, "leaks": 10,
    "brands": 20, "sentences": 20, "channels": 20, "disclosures": 20, "leftOver": 50, "drift": 50, "failed": 50,
    "userErrors": 1,
    # A part of a document's text counts as a long list, with what these say of it.
    "pages": 1, "outline": 1,
}  # fmt: skip
"""Lists of objects without `first`, with as many members as they have on a busy day."""

WRAPPERS = frozenset({"edges", "node", "nodes", "pageInfo"})
"""Fields that bring no object of their own, or those that `first` counts."""


def require_few_rows(document: DocumentNode, operation_name: str | None, variables: Mapping[str, Any] | None) -> None:
    """Errors: `GraphQLError` code QUERY_TOO_COMPLEX. The document must be valid and within the limits."""
    fragments = {node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)}
    for node in document.definitions:
        if isinstance(node, OperationDefinitionNode) and operation_name in (None, node.name and node.name.value):
            found = _Rows(fragments, variables or {}).inside(node.selection_set)
            if found > MAX_ROWS:
                raise GraphQLError(
                    f"The query may bring {found:,} objects; {MAX_ROWS:,} at most: ask for smaller pages, or for fewer "
                    "lists in each object.",
                    extensions={"code": LIMIT_CODE},
                )


def pages_by_variable(document: DocumentNode) -> bool:
    """Whether a variable says how many objects a query may bring: else each request of the document brings as many."""
    found = False

    class FirstVariables(Visitor):
        def enter_argument(self, node: ArgumentNode, *_: Any) -> None:
            nonlocal found
            found = found or (node.name.value in _HOW_MANY and isinstance(node.value, VariableNode))

    visit(document, FirstVariables())
    return found


class _Rows:
    """Counts the objects of selection sets, each fragment once."""

    def __init__(self, fragments: Mapping[str, FragmentDefinitionNode], variables: Mapping[str, Any]) -> None:
        self._fragments = fragments
        self._variables = variables
        self._known: dict[str, int] = {}

    def inside(self, node: SelectionSetNode | None) -> int:
        """The objects of a set."""
        rows = 0
        for selection in node.selections if node is not None else ():
            if isinstance(selection, FieldNode):
                rows += self._field(selection)
            elif isinstance(selection, InlineFragmentNode):
                rows += self.inside(selection.selection_set)
            elif isinstance(selection, FragmentSpreadNode):
                rows += self._fragment(selection.name.value)
        return rows

    def _field(self, node: FieldNode) -> int:
        if node.selection_set is None:
            return 0
        name = node.name.value
        one = 0 if name in WRAPPERS else 1
        return self._times(node) * (one + self.inside(node.selection_set))

    def _times(self, node: FieldNode) -> int:
        given = next((one.value for one in node.arguments or () if one.name.value in _HOW_MANY), None)
        if isinstance(given, IntValueNode):
            return max(1, int(given.value))
        if isinstance(given, VariableNode):
            value = self._variables.get(given.name.value, MAX_PAGE)
            return max(1, value) if isinstance(value, int) else MAX_PAGE
        return DEFAULT_PAGE if node.name.value in PAGED else LISTS.get(node.name.value, 1)

    def _fragment(self, name: str) -> int:
        if name not in self._known:
            self._known[name] = 0
            found = self._fragments.get(name)
            self._known[name] = self.inside(found.selection_set) if found is not None else 0
        return self._known[name]
