"""The demand of an operation on the rate limits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    InlineFragmentNode,
    OperationDefinitionNode,
    OperationType,
    SelectionSetNode,
)

from agentic_rag.workspaces.rate_limits import Demand, Traffic
from agentic_rag_server.graphql.http.limits import SINGLE


def demand_of(document: DocumentNode, operation_name: str | None) -> Demand:
    """The demand of the operation that runs. A mutation counts once per field; a query counts once, and once more per
    expensive field. The document must be within the limits.
    """
    fragments = {node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)}
    demand: Counter[Traffic] = Counter()
    for node in document.definitions:
        if isinstance(node, OperationDefinitionNode) and operation_name in (None, node.name and node.name.value):
            other = Traffic.WRITE if node.operation is OperationType.MUTATION else Traffic.READ
            kinds = [Traffic.ASK if name in SINGLE else other for name in _names(node.selection_set, fragments, ())]
            demand.update(kinds)
            demand[Traffic.READ] = min(demand[Traffic.READ], 1)
    return demand


def _names(
    selections: SelectionSetNode | None, fragments: dict[str, FragmentDefinitionNode], inside: tuple[str, ...]
) -> Iterator[str]:
    """The root fields with fragments spread out."""
    for node in selections.selections if selections is not None else ():
        if isinstance(node, FieldNode):
            yield node.name.value
        elif isinstance(node, InlineFragmentNode):
            yield from _names(node.selection_set, fragments, inside)
        elif isinstance(node, FragmentSpreadNode) and node.name.value not in inside:
            spread = fragments.get(node.name.value)
            if spread is not None:
                yield from _names(spread.selection_set, fragments, (*inside, node.name.value))
