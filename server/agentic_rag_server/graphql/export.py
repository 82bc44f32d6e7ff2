"""Writes schema.graphql beside this file: `python -m agentic_rag_server.graphql.export`."""

from __future__ import annotations

from pathlib import Path

from graphql import build_schema as read_schema
from graphql import lexicographic_sort_schema, print_schema

from agentic_rag_server.graphql.schema import build_schema

SCHEMA_FILE = Path(__file__).with_name("schema.graphql")


def schema_text() -> str:
    """The sorted schema in its definition language. Strawberry's own sorting loses the serialisers of enums."""
    return print_schema(lexicographic_sort_schema(read_schema(build_schema().as_str()))).rstrip() + "\n"


def main() -> None:
    """Write the file."""
    SCHEMA_FILE.write_text(schema_text(), encoding="utf-8")


if __name__ == "__main__":
    main()
