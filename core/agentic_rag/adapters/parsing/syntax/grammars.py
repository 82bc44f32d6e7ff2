"""What source code defines, by tree-sitter's grammars. Read in a child process only: the grammars are native code."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import cast

from tree_sitter import Language, Node, Parser, Query, QueryCursor

from agentic_rag.adapters.parsing.file_types import extension_of
from agentic_rag.language.programming import language_of
from agentic_rag.language.symbols import Definition

_PYTHON = "([(class_definition name: (_) @name) (function_definition name: (_) @name)]) @definition"
_FUNCTION_VALUE = "[(arrow_function) (function_expression) (generator_function) (class)]"
_JAVASCRIPT = f"""
([
  (class_declaration name: (_) @name)
  (function_declaration name: (_) @name)
  (generator_function_declaration name: (_) @name)
  (method_definition name: (_) @name)
  (variable_declarator name: (identifier) @name value: {_FUNCTION_VALUE})
  (pair key: (_) @name value: {_FUNCTION_VALUE})
  (assignment_expression left: [(identifier) @name (member_expression property: (_) @name)] right: {_FUNCTION_VALUE})
]) @definition
"""
_TYPESCRIPT = f"""
{_JAVASCRIPT}
([
  (abstract_class_declaration name: (_) @name)
  (interface_declaration name: (_) @name)
  (enum_declaration name: (_) @name)
  (type_alias_declaration name: (_) @name)
  (internal_module name: (_) @name)
  (module name: (_) @name)
  (abstract_method_signature name: (_) @name)
  (method_signature name: (_) @name)
  (public_field_definition name: (_) @name value: {_FUNCTION_VALUE})
]) @definition
"""
_GO = """
([
  (function_declaration name: (_) @name)
  (type_spec name: (_) @name)
  (type_alias name: (_) @name)
]) @definition
(method_declaration
  receiver: (parameter_list (parameter_declaration type: [
    (type_identifier) @owner
    (generic_type type: (_) @owner)
    (pointer_type [(type_identifier) @owner (generic_type type: (_) @owner)])
  ]))
  name: (_) @name) @definition
"""
_JAVA = """
([
  (class_declaration name: (_) @name)
  (interface_declaration name: (_) @name)
  (enum_declaration name: (_) @name)
  (record_declaration name: (_) @name)
  (annotation_type_declaration name: (_) @name)
  (method_declaration name: (_) @name)
  (constructor_declaration name: (_) @name)
  (compact_constructor_declaration name: (_) @name)
]) @definition
"""
_RUST = """
([
  (function_item name: (_) @name)
  (function_signature_item name: (_) @name)
  (struct_item name: (_) @name)
  (enum_item name: (_) @name)
  (union_item name: (_) @name)
  (trait_item name: (_) @name)
  (mod_item name: (_) @name)
  (macro_definition name: (_) @name)
  (type_item name: (_) @name)
  (impl_item type: [(type_identifier) @name (generic_type type: (_) @name) (scoped_type_identifier name: (_) @name)])
]) @definition
"""
_C = """
([
  (function_definition declarator: [
    (function_declarator declarator: (_) @name)
    (pointer_declarator declarator: [
      (function_declarator declarator: (_) @name)
      (pointer_declarator declarator: (function_declarator declarator: (_) @name))
    ])
  ])
  (struct_specifier name: (_) @name body: (_))
  (union_specifier name: (_) @name body: (_))
  (enum_specifier name: (_) @name body: (_))
  (type_definition
    type: [(struct_specifier !name) (union_specifier !name) (enum_specifier !name)]
    declarator: (type_identifier) @name)
  (preproc_function_def name: (_) @name)
]) @definition
"""
_CPP = f"""
{_C}
([
  (function_definition declarator: (reference_declarator (function_declarator declarator: (_) @name)))
  (class_specifier name: (_) @name body: (_))
  (namespace_definition name: (_) @name)
  (concept_definition name: (_) @name)
]) @definition
"""
_CSHARP = """
([
  (namespace_declaration name: (_) @name)
  (class_declaration name: (_) @name)
  (struct_declaration name: (_) @name)
  (interface_declaration name: (_) @name)
  (record_declaration name: (_) @name)
  (enum_declaration name: (_) @name)
  (delegate_declaration name: (_) @name)
  (method_declaration name: (_) @name)
  (constructor_declaration name: (_) @name)
  (destructor_declaration name: (_) @name)
  (property_declaration name: (_) @name)
  (local_function_statement name: (_) @name)
]) @definition
"""
_RUBY = """
([
  (class name: (_) @name)
  (module name: (_) @name)
  (method name: (_) @name)
  (singleton_method name: (_) @name)
]) @definition
"""
_PHP = """
([
  (namespace_definition name: (_) @name body: (_))
  (class_declaration name: (_) @name)
  (interface_declaration name: (_) @name)
  (trait_declaration name: (_) @name)
  (enum_declaration name: (_) @name)
  (function_definition name: (_) @name)
  (method_declaration name: (_) @name)
]) @definition
"""
_AROUND = frozenset({"decorated_definition", "template_declaration", "export_statement"})
"""Nodes that are part of the one definition that they hold, whatever else they hold."""
_AROUND_ONE = frozenset({"type_declaration", "lexical_declaration", "variable_declaration", "expression_statement"})
"""Nodes that are part of a definition where they hold nothing else."""
_BEFORE = frozenset({"decorator", "attribute_item"})
"""Nodes that are part of the definition that follows them."""


@dataclass(frozen=True)
class Grammar:
    """A language's parser: the module that has it, the function of the module, and the query for definitions."""

    module: str
    query: str
    function: str = "language"

    @cached_property
    def language(self) -> Language:
        """Errors: `ImportError` where the package is missing."""
        make = cast(Callable[[], object], getattr(importlib.import_module(self.module), self.function))
        return Language(make())

    @cached_property
    def definitions(self) -> Query:
        """The query, made ready."""
        return Query(self.language, self.query)


_TSX = Grammar("tree_sitter_typescript", _TYPESCRIPT, "language_tsx")
GRAMMARS: Mapping[str, Grammar] = {
    "python": Grammar("tree_sitter_python", _PYTHON),
    "javascript": Grammar("tree_sitter_javascript", _JAVASCRIPT),
    "typescript": Grammar("tree_sitter_typescript", _TYPESCRIPT, "language_typescript"),
    "go": Grammar("tree_sitter_go", _GO),
    "java": Grammar("tree_sitter_java", _JAVA),
    "rust": Grammar("tree_sitter_rust", _RUST),
    "c": Grammar("tree_sitter_c", _C),
    "cpp": Grammar("tree_sitter_cpp", _CPP),
    "csharp": Grammar("tree_sitter_c_sharp", _CSHARP),
    "ruby": Grammar("tree_sitter_ruby", _RUBY),
    "php": Grammar("tree_sitter_php", _PHP, "language_php"),
}
"""By programming language; the keys are `language.programming.WITH_GRAMMAR`."""
_BY_EXTENSION = {"tsx": _TSX, "h": GRAMMARS["cpp"]}
"""Where an extension says more than the language, or less: a header may be C++."""


def grammar_of(file_name: str) -> Grammar | None:
    """The grammar for a file, by its name."""
    return _BY_EXTENSION.get(extension_of(file_name)) or GRAMMARS.get(language_of(file_name) or "")


def preload() -> None:
    """Make every grammar ready. Errors: `ImportError` where one is missing."""
    for grammar in (*GRAMMARS.values(), _TSX):
        QueryCursor(grammar.definitions).matches(Parser(grammar.language).parse(b"").root_node)


def read_definitions(file_name: str, source: bytes) -> list[Definition] | None:
    """What UTF-8 source code defines, in order; each with its decorators. None for a file without a grammar, or one of
    which its grammar makes nothing.
    """
    grammar = grammar_of(file_name)
    if grammar is None:
        return None
    root = Parser(grammar.language).parse(source).root_node
    found: dict[tuple[int, int], str] = {}
    for _, captures in QueryCursor(grammar.definitions).matches(root):
        start, end = _trimmed(source, *_span_of(captures["definition"][0]))
        named = [*captures.get("owner", ())[:1], captures["name"][0]]
        found.setdefault((start, end), ".".join(map(_name_of, named)))
    if root.has_error and not found:
        return None
    at = _code_points(source, [offset for span in found for offset in span])
    return [Definition(name, at[start], at[end]) for (start, end), name in sorted(found.items())]


def _span_of(node: Node) -> tuple[int, int]:
    """The bytes of a definition, with what wraps it and what is written before it."""
    around = node
    while (parent := around.parent) is not None and (
        parent.type in _AROUND or (parent.type in _AROUND_ONE and parent.named_child_count == 1)
    ):
        around = parent
    before = around
    while before.prev_sibling is not None and before.prev_sibling.type in _BEFORE:
        before = before.prev_sibling
    return before.start_byte, around.end_byte


def _trimmed(source: bytes, start: int, end: int) -> tuple[int, int]:
    """From the indentation of the first line to the last sign."""
    return len(source[:start].rstrip(b" \t")), start + len(source[start:end].rstrip())


def _name_of(node: Node) -> str:
    text = (node.text or b"").decode(errors="replace").strip("'\"")
    return ".".join("".join(text.split()).replace("\\", ".").split("::"))


def _code_points(source: bytes, offsets: Sequence[int]) -> Mapping[int, int]:
    """The place in the text of each place in its bytes."""
    places = {0: 0}
    for before, offset in pairwise([0, *sorted(set(offsets))]):
        places[offset] = places[before] + len(source[before:offset].decode(errors="replace"))
    return places
