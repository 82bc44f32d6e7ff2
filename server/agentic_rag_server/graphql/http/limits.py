"""Limits on one GraphQL document, checked in linear time before validation, and its demand on the rate limits.

A rule that follows every fragment spread is exponential in chained fragments; here each fragment is measured once.
Fragments count wherever they are spread, so splitting a query gains nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    InlineFragmentNode,
    OperationDefinitionNode,
    OperationType,
    SelectionSetNode,
    Source,
    TokenKind,
    parse,
)
from graphql.language import Lexer

from agentic_rag.workspaces.rate_limits import Demand, Traffic

LIMIT_CODE = "QUERY_TOO_COMPLEX"

_OPENING = frozenset({TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L})
_CLOSING = frozenset({TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R})
_INTROSPECTION = frozenset({"__schema", "__type"})
_INTROSPECTION_LISTS = frozenset({"fields", "interfaces", "possibleTypes", "inputFields"})
SINGLE = (
    "ragAnswer", "estimateAnswer", "ragAnswerStream", "explainRun", "searchPassages", "context", "verification",
    "denseRecall", "restoreSnapshot", "attackTenants", "gateDecision", "replayRun", "proveRun",
    "marketingReport", "codeReport",
)  # fmt: skip
"""Expensive fields: at most one per document."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The maximum of each. The standard introspection query passes.

    `introspection_lists` bounds lists of lists inside `__schema` and `__type` (GraphQL.js: MaxIntrospectionDepthRule).
    """

    characters: int = 65_536
    tokens: int = 1_000
    nesting: int = 40
    depth: int = 8
    introspection_depth: int = 20
    introspection_lists: int = 2
    aliases: int = 15
    directives: int = 20
    fragments: int = 10
    root_fields: int = 5
    fields: int = 500
    answers: int = 1


@dataclass(frozen=True, slots=True)
class _Cost:
    """The cost of a selection set with its fragments spread out. Heights count the fields of the longest path; `plain`
    stops at introspection fields. `top` and `answers` count only fields of the set itself.
    """

    height: int = 0
    plain: int = 0
    lists: int = 0
    introspection_height: int = 0
    introspection_lists: int = 0
    aliases: int = 0
    directives: int = 0
    fields: int = 0
    top: int = 0
    answers: int = 0


_NOTHING = _Cost()
_HEIGHTS = ("height", "plain", "lists", "introspection_height", "introspection_lists")
_COUNTS = ("aliases", "directives", "fields", "top", "answers")


def parse_within(text: str, limits: Limits) -> DocumentNode:
    """Parse a document that keeps to the limits. Errors: `GraphQLError` with code QUERY_TOO_COMPLEX, or
    `GraphQLSyntaxError`.
    """
    if len(text) > limits.characters:
        raise _refusal("characters", limits.characters)
    _scan(text, limits)
    document = parse(text, no_location=False)
    check(document, limits)
    return document


def check(document: DocumentNode, limits: Limits) -> None:
    """Measure a parsed document. Errors: `GraphQLError` with code QUERY_TOO_COMPLEX."""
    fragments = {node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)}
    if len(fragments) > limits.fragments:
        raise _refusal("fragments", limits.fragments)
    measure = _CostVisitor(fragments, limits)
    for operation in document.definitions:
        if isinstance(operation, OperationDefinitionNode):
            cost = measure.selection_set(operation.selection_set)
            _compare(cost, len(operation.directives or ()), limits)


def _compare(cost: _Cost, operation_directives: int, limits: Limits) -> None:
    measured = (
        ("levels of fields", cost.plain, limits.depth),
        ("levels of introspection", cost.introspection_height, limits.introspection_depth),
        ("nested introspection lists", cost.introspection_lists, limits.introspection_lists),
        ("aliases", cost.aliases, limits.aliases),
        ("directives", cost.directives + operation_directives, limits.directives),
        ("root fields", cost.top, limits.root_fields),
        ("fields", cost.fields, limits.fields),
        (f"{' or '.join(SINGLE)} fields", cost.answers, limits.answers),
    )
    for what, value, most in measured:
        if value > most:
            raise _refusal(what, most)


def _refusal(what: str, most: int) -> GraphQLError:
    return GraphQLError(
        f"The document has too many {what}: at most {most} with fragments spread out.", extensions={"code": LIMIT_CODE}
    )


def _scan(text: str, limits: Limits) -> None:
    """Check tokens and nesting without recursion, before the recursive parser runs."""
    lexer = Lexer(Source(text))
    tokens = depth = 0
    while (token := lexer.advance()).kind is not TokenKind.EOF:
        tokens += 1
        if tokens > limits.tokens:
            raise _refusal("tokens", limits.tokens)
        if token.kind in _OPENING:
            depth += 1
            if depth > limits.nesting:
                raise _refusal("nested brackets", limits.nesting)
        elif token.kind in _CLOSING:
            depth -= 1


class _CostVisitor:
    """Measures selection sets, each fragment once. A recursive fragment counts nothing: validation refuses it."""

    def __init__(self, fragments: dict[str, FragmentDefinitionNode], limits: Limits) -> None:
        self._fragments = fragments
        self._limits = limits
        self._known: dict[str, _Cost] = {}
        self._level = 0

    def selection_set(self, node: SelectionSetNode | None) -> _Cost:
        """The cost of a set: the maximum of its members' heights, the sum of the other counts."""
        if node is None:
            return _NOTHING
        self._level += 1
        if self._level > self._limits.nesting:
            raise _refusal("nested brackets", self._limits.nesting)
        cost = _together(self._members(node))
        self._level -= 1
        return cost

    def _members(self, node: SelectionSetNode) -> Iterable[_Cost]:
        for selection in node.selections:
            directives = len(selection.directives or ())
            if isinstance(selection, FieldNode):
                yield self._field(selection, directives)
            elif isinstance(selection, FragmentSpreadNode):
                yield _and_directives(self._fragment(selection.name.value), directives)
            elif isinstance(selection, InlineFragmentNode):
                yield _and_directives(self.selection_set(selection.selection_set), directives)

    def _field(self, node: FieldNode, directives: int) -> _Cost:
        inner = self.selection_set(node.selection_set)
        name = node.name.value
        introspection = name in _INTROSPECTION
        height = inner.height + 1
        return _Cost(
            height=height,
            plain=1 if introspection else inner.plain + 1,
            lists=inner.lists + (name in _INTROSPECTION_LISTS),
            introspection_height=height if introspection else inner.introspection_height,
            introspection_lists=inner.lists if introspection else inner.introspection_lists,
            aliases=inner.aliases + (node.alias is not None),
            directives=inner.directives + directives,
            fields=inner.fields + 1,
            top=1,
            answers=int(name in SINGLE),
        )

    def _fragment(self, name: str) -> _Cost:
        known = self._known.get(name)
        if known is None:
            fragment = self._fragments.get(name)
            self._known[name] = _NOTHING
            if fragment is None:
                return _NOTHING
            own = len(fragment.directives or ())
            known = self._known[name] = _and_directives(self.selection_set(fragment.selection_set), own)
        return known


def _and_directives(cost: _Cost, more: int) -> _Cost:
    return _together((cost, _Cost(directives=more))) if more else cost


def _together(members: Iterable[_Cost]) -> _Cost:
    costs = list(members)
    heights = {name: max((getattr(cost, name) for cost in costs), default=0) for name in _HEIGHTS}
    return _Cost(**heights, **{name: sum(getattr(cost, name) for cost in costs) for name in _COUNTS})


def uses_introspection(document: DocumentNode) -> bool:
    """Whether any selection of a document asks about the schema."""
    waiting: list[SelectionSetNode | None] = [
        node.selection_set
        for node in document.definitions
        if isinstance(node, OperationDefinitionNode | FragmentDefinitionNode)
    ]
    while waiting:
        selections = waiting.pop()
        for node in selections.selections if selections is not None else ():
            if isinstance(node, FieldNode) and node.name.value in _INTROSPECTION:
                return True
            if isinstance(node, FieldNode | InlineFragmentNode):
                waiting.append(node.selection_set)
    return False


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


def root_fields(document: DocumentNode, operation_name: str | None) -> list[str]:
    """The fields of the roots that the operation asks. The document must be within the limits."""
    fragments = {node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)}
    return [
        name
        for node in document.definitions
        if isinstance(node, OperationDefinitionNode) and operation_name in (None, node.name and node.name.value)
        for name in _names(node.selection_set, fragments, ())
    ]


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
