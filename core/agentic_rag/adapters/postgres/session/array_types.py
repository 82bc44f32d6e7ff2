"""Arrays of the server's own types, whose numbers are the same on every server (PostgreSQL, src/include/catalog/
pg_type.dat).

The driver knows no array but `text[]` and asks the server about each other, on every connection anew: three round trips
and a recursive query of 10 ms. A connection that is taught them asks nothing.
"""

# asyncpg ships no types.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

ARRAYS: Mapping[int, tuple[str, int]] = {
    1000: ("_bool", 16),
    1001: ("_bytea", 17),
    1005: ("_int2", 21),
    1007: ("_int4", 23),
    1016: ("_int8", 20),
    1021: ("_float4", 700),
    1022: ("_float8", 701),
    1182: ("_date", 1082),
    1185: ("_timestamptz", 1184),
    1231: ("_numeric", 1700),
    2951: ("_uuid", 2950),
    3807: ("_jsonb", 3802),
}
"""Name and element type of each, by number."""

_NO_OTHER_KIND = dict.fromkeys(["basetype", "range_subtype", "attrtypoids", "attrnames"])


def teach_arrays(driver: Any, further: Mapping[int, tuple[str, int]] | None = None) -> None:
    """Register them, and those of an extension, at a connection whose element types have their codecs."""
    # The driver's public calls register no array. One that keeps its types elsewhere asks the server as before.
    told = getattr(getattr(driver, "_protocol", None), "get_settings", None)
    if told is not None and (register := getattr(told(), "register_data_types", None)) is not None:
        register([_told(oid, *array) for oid, array in {**ARRAYS, **(further or {})}.items()])


def _told(oid: int, name: str, element: int) -> Mapping[str, Any]:
    """As the driver's own query tells it."""
    shown = {"oid": oid, "ns": "pg_catalog", "name": name, "kind": b"b", "elemtype": element, "elemdelim": b","}
    return shown | _NO_OTHER_KIND
