"""A filter of documents as SQL: a condition for each property that restricts, so that each can use its index."""

from __future__ import annotations

import re

from agentic_rag.documents.document import DocumentFilter
from agentic_rag.documents.metadata import Comparison, FieldCondition, FieldType, field_label, field_type
from agentic_rag.documents.where import glob_pattern, literal_prefix

# $1 organisation, $2 workspace, $3 access sets, $4 corpus version. OFFSET 0 keeps both look-ups by key while a new
# table has no statistics.
MATCHING = """
SELECT c.ordinal
FROM (
    SELECT document_id FROM rag_documents WHERE org_id = $1 AND workspace_id = $2{conditions} OFFSET 0
) d
CROSS JOIN LATERAL (
    SELECT ordinal FROM rag_chunks
    WHERE org_id = $1 AND workspace_id = $2 AND document_id = d.document_id
      AND access_id = ANY ($3::integer[]) AND visible_from <= $4 AND (visible_to IS NULL OR visible_to > $4)
    OFFSET 0
) c
"""

# Row level security keeps operators that may tell a value from a foreign row out of index scans: labels are compared
# with `=`, which may not.
_LABELLED = """rag_documents.document_id IN (
        SELECT l.document_id FROM rag_document_labels l
        WHERE l.org_id = $1 AND l.workspace_id = $2 AND l.label = ANY ({argument}::text[])
    )"""

_FIELD = "rag_documents.metadata #> ARRAY['fields', {name}::text]"

# CASE: nothing else keeps the database from reading a text as a number before it looks at its type.
_NUMBER = "CASE jsonb_typeof({field}) WHEN 'number' THEN ({field})::numeric {sign} {argument}::text::numeric END"
_DAY = """CASE WHEN ({field}) #>> '{{}}' ~ '^\\d{{4}}-\\d{{2}}-\\d{{2}}$'
        THEN (({field}) #>> '{{}}') COLLATE "C" {sign} {argument}::text END"""

# As `documents.where.fold_name`. A space keeps what is no word of either from being one of both. Paths have the
# collation "C", which knows the case of ASCII letters only. Only what has others is normalised: to count among 20,000
# documents took 390 ms with `normalize` on each and 54 ms so, at a load of 13.
_NAME = "(rag_documents.title || ' ' || rag_documents.source_path)"
_NAMED = f"""CASE WHEN octet_length({_NAME}) = char_length({_NAME}) THEN lower({_NAME})
        ELSE normalize(lower({_NAME} COLLATE "default"), NFC) END LIKE ALL ({{argument}}::text[])"""
_WILD = re.compile(r"[\\%_]")

_HIGHEST = "\U0010ffff"
"""After every character of a path, in the order of the database's collation."""


class _Conditions:
    """Conditions on documents, and the arguments after the first `before` of the statement."""

    def __init__(self, before: int) -> None:
        self._before = before
        self.arguments: list[object] = []
        self._conditions: list[str] = []

    def add(self, condition: str, *arguments: object) -> None:
        """A condition with `{argument}`, or `{0}`, `{1}`, for its arguments."""
        places: list[str] = []
        for argument in arguments:
            self.arguments.append(argument)
            places.append(f"${len(self.arguments) + self._before}")
        self._conditions.append(condition.format(*places, argument=places[0]))

    def has_label(self, labels: list[str]) -> None:
        """The document has one of the labels."""
        self.add(_LABELLED, labels)

    def text(self) -> str:
        return "".join(f"\n      AND {one}" for one in self._conditions)


def matching_statement(wanted: DocumentFilter) -> tuple[str, list[object]]:
    """The statement that reads the ordinals of a filter, and its arguments after the first four."""
    conditions, arguments = filter_conditions(wanted, 4)
    return MATCHING.replace("{conditions}", conditions), arguments


def filter_conditions(wanted: DocumentFilter, before: int) -> tuple[str, list[object]]:
    """Conditions on rows of rag_documents in a statement whose first two arguments are organisation and workspace,
    and their arguments, which follow the first `before`.
    """
    conditions = _Conditions(before)
    if wanted.document_ids:
        conditions.add("rag_documents.document_id = ANY ({argument}::uuid[])", wanted.document_ids)
    if wanted.without_ids:
        conditions.add("NOT rag_documents.document_id = ANY ({argument}::uuid[])", wanted.without_ids)
    _compare_names(conditions, wanted)
    if wanted.media_types:
        conditions.add("rag_documents.media_type = ANY ({argument}::text[])", wanted.media_types)
    for tags in wanted.tags:
        conditions.has_label([f"tag={tag}" for tag in tags])
    if wanted.domains:
        conditions.has_label([f"domain={one}" for one in wanted.domains])
    if wanted.languages:
        conditions.has_label([f"language={one}" for one in wanted.languages])
    if wanted.date_from is not None:
        conditions.add("rag_documents.document_date >= {argument}", wanted.date_from)
    if wanted.date_to is not None:
        conditions.add("rag_documents.document_date <= {argument}", wanted.date_to)
    for condition in wanted.fields:
        _compare_field(conditions, condition)
    return conditions.text(), conditions.arguments


def _compare_names(conditions: _Conditions, wanted: DocumentFilter) -> None:
    if wanted.source_path_prefix is not None:
        _starts_with(conditions, wanted.source_path_prefix)
    if wanted.path_globs:
        _starts_with(conditions, literal_prefix(wanted.path_globs))
        conditions.add(
            "rag_documents.source_path ~ ANY ({argument}::text[])", [glob_pattern(one) for one in wanted.path_globs]
        )
    if wanted.words:
        conditions.add(_NAMED, [f"%{_WILD.sub(_escape, one)}%" for one in wanted.words])


def _escape(wild: re.Match[str]) -> str:
    return f"\\{wild[0]}"


def _starts_with(conditions: _Conditions, prefix: str) -> None:
    if prefix:
        conditions.add(
            "rag_documents.source_path >= {0} AND rag_documents.source_path <= {1}", prefix, prefix + _HIGHEST
        )
        conditions.add("starts_with(rag_documents.source_path, {argument})", prefix)


def _compare_field(conditions: _Conditions, condition: FieldCondition) -> None:
    if condition.comparison is Comparison.EQUALS:
        conditions.has_label([field_label(condition.name, value) for value in condition.values])
        return
    bound = condition.values[0]
    field = _FIELD.format(name="{0}")
    order = _NUMBER if field_type(bound) is FieldType.NUMBER else _DAY
    conditions.add(
        order.replace("{field}", field).replace("{sign}", condition.comparison.value).replace("{argument}", "{1}"),
        condition.name,
        str(bound),
    )
