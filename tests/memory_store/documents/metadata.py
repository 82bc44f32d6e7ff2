"""How stored forms of metadata are put together without a database."""

from collections.abc import Mapping
from typing import Any


def merge_json(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """What holds of two stored forms, property by property and field by field; `above` wins. The database's function
    `rag_merge_metadata` does the same.
    """
    return {**below, **above, "fields": {**(below.get("fields") or {}), **(above.get("fields") or {})}}
