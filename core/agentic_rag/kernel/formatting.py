"""Numbers of bytes and of things as people read them."""

from __future__ import annotations

_MEBIBYTE = 1 << 20


def format_bytes(count: int) -> str:
    """`512 bytes` below a mebibyte, `25 MiB` or `25.2 MiB` from there on; never more than `count` is."""
    if count < _MEBIBYTE:
        return format_count(count, "byte")
    tenths = 10 * count // _MEBIBYTE
    return f"{tenths // 10} MiB" if tenths % 10 == 0 else f"{tenths / 10:.1f} MiB"


def format_count(count: int, noun: str) -> str:
    """`1 chunk`, `2 chunks`; for nouns whose plural ends in a plain s."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
