"""Numbers of bytes as people read them."""

from __future__ import annotations

_MEBIBYTE = 1 << 20


def told_bytes(count: int) -> str:
    """`512 bytes` below a mebibyte, `25 MiB` or `25.2 MiB` from there on; never more than `count` is."""
    if count < _MEBIBYTE:
        return f"{count} bytes"
    tenths = 10 * count // _MEBIBYTE
    return f"{tenths // 10} MiB" if tenths % 10 == 0 else f"{tenths / 10:.1f} MiB"
