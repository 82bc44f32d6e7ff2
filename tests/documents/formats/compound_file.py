"""Compound files ([MS-CFB] version 3), as Outlook and old Office programs write them."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Tree = Mapping[str, "bytes | Tree"]
"""Streams and storages by name."""
_SECTOR = 512
_MINI = 64
_SMALL = 4096
"""Streams below it lie in mini sectors."""
_FREE, _END, _OF_FAT, _NONE = 0xFFFF_FFFF, 0xFFFF_FFFE, 0xFFFF_FFFD, 0xFFFF_FFFF
_STORAGE, _STREAM, _ROOT = 1, 2, 5


@dataclass(slots=True)
class _Entry:
    name: str
    kind: int
    content: bytes = b""
    child: int = _NONE
    right: int = _NONE
    start: int = _END


def compound_file(tree: Tree) -> bytes:
    """A file of these streams. Siblings hang in one chain, which every reader follows."""
    entries = [_Entry("Root Entry", _ROOT)]
    _add(entries, 0, tree)
    sectors, fat, mini, mini_fat = list[bytes](), list[int](), b"", list[int]()
    for entry in entries[1:]:
        if entry.kind != _STREAM or not entry.content:
            continue
        if len(entry.content) >= _SMALL:
            entry.start = _store(sectors, fat, entry.content)
            continue
        entry.start = len(mini_fat)
        count = -(-len(entry.content) // _MINI)
        mini_fat += [*range(entry.start + 1, entry.start + count), _END]
        mini += entry.content.ljust(count * _MINI, b"\0")
    entries[0].content = mini
    entries[0].start = _store(sectors, fat, mini) if mini else _END
    mini_start = _store(sectors, fat, struct.pack(f"<{len(mini_fat)}I", *mini_fat), b"\xff") if mini_fat else _END
    directory = _store(sectors, fat, b"".join(map(_packed, entries)))
    fat_sectors = 1
    while (len(fat) + fat_sectors) * 4 > fat_sectors * _SECTOR:
        fat_sectors += 1
    places = [*range(len(fat), len(fat) + fat_sectors)]
    fat += [_OF_FAT] * fat_sectors
    fat += [_FREE] * (fat_sectors * _SECTOR // 4 - len(fat))
    head = struct.pack(
        "<8s16xHHHHH6xIIIIIIIII",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 0x3E, 3, 0xFFFE, 9, 6, 0, fat_sectors, directory, 0, _SMALL, mini_start,
        -(-len(mini_fat) * 4 // _SECTOR), _END, 0,
    )  # fmt: skip
    head += struct.pack("<109I", *places, *[_FREE] * (109 - len(places)))
    return head + b"".join(sectors) + struct.pack(f"<{len(fat)}I", *fat)


def _add(entries: list[_Entry], parent: int, tree: Tree) -> None:
    before = None
    # The order of names in a storage: by length, then by letters in upper case.
    for name in sorted(tree, key=lambda name: (len(name), name.upper())):
        held = tree[name]
        at = len(entries)
        entries.append(_Entry(name, _STREAM, held) if isinstance(held, bytes) else _Entry(name, _STORAGE))
        if before is None:
            entries[parent].child = at
        else:
            entries[before].right = at
        before = at
        if not isinstance(held, bytes):
            _add(entries, at, held)


def _store(sectors: list[bytes], fat: list[int], content: bytes, filler: bytes = b"\0") -> int:
    start, count = len(sectors), -(-len(content) // _SECTOR)
    filled = content.ljust(count * _SECTOR, filler)
    sectors += [filled[at : at + _SECTOR] for at in range(0, len(filled), _SECTOR)]
    fat += [*range(start + 1, start + count), _END]
    return start


def _packed(entry: _Entry) -> bytes:
    name = (entry.name + "\0").encode("utf-16-le")
    return struct.pack(
        "<64sHBBIII16xI8x8xIQ",
        name, len(name), entry.kind, 1, _NONE, entry.right, entry.child, 0, entry.start, len(entry.content),
    )  # fmt: skip


def streams(names: Sequence[str], size: int = 5_000) -> bytes:
    """A compound file whose streams hold nothing that can be read."""
    return compound_file({name: bytes(range(256)) * (size // 256) for name in names})
