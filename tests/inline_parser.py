"""The parser without its child process, whose start takes longer than most tests that read a small file."""

from __future__ import annotations

import json
from typing import Any

from agentic_rag.adapters.parsing.process import child
from agentic_rag.adapters.parsing.process.limits import ParserLimits
from agentic_rag.adapters.parsing.process.parser import ProcessParser
from agentic_rag.adapters.parsing.process.pool import ChildPool
from agentic_rag.adapters.parsing.process.scans import ScanReader
from agentic_rag.adapters.parsing.process.wire import LENGTHS


class _Allowance:
    """Of time: nobody counts it."""

    def page_read(self) -> None:
        """One more is read."""


class _InlineChild:
    """Answers as the child does, in the calling process, without walls."""

    def usable(self, _: ParserLimits) -> bool:
        return True

    async def ask(self, request: bytes) -> tuple[bytes, bytes]:
        head, content = _parts(request)
        asked = json.loads(head)
        allowance: Any = _Allowance()
        return _parts(child.answered(child.reply, content, asked, ParserLimits(), allowance))

    async def end(self, *, kill: bool = True) -> int:
        return 0


def _parts(framed: bytes) -> tuple[bytes, bytes]:
    length, _ = LENGTHS.unpack_from(framed)
    start = LENGTHS.size + length
    return framed[LENGTHS.size : start], framed[start:]


class _InlinePool(ChildPool):
    async def _child(self) -> Any:
        return _InlineChild()


class InlineParser(ProcessParser):
    """Not for files that harm who reads them."""

    def __init__(self, scans: ScanReader | None = None) -> None:
        super().__init__(scans=scans)
        self._pool = _InlinePool("", ParserLimits())
