"""Files that an Office document holds: workbooks and documents embedded in it, and texts inserted by reference
(ECMA-376 Part 1, 11.3.1 and 15.2.11).
"""

from __future__ import annotations

from posixpath import basename

from agentic_rag.adapters.parsing.held_files import HeldFiles
from agentic_rag.adapters.parsing.office.package import Package

_INSERTED, _EMBEDDED, _OTHER = "aFChunk", "package", "oleObject"


def read_embedded(held: HeldFiles, package: Package, part: str) -> int:
    """Append the files that a part refers to. How many objects of other programs it holds besides, which nobody reads.

    Errors: `ParseFailed` code PARSE_TOO_LARGE.
    """
    objects: set[str] = set()
    for kind, other in package.relations(part).values():
        if kind == _OTHER:
            objects.add(other)
        elif kind in (_INSERTED, _EMBEDDED) and other in package.names:
            called = "Inserted text" if kind == _INSERTED else "Embedded file"
            held.add_file(f"{called}: {basename(other)}", basename(other), lambda other=other: package.read(other))
    return len(objects)
