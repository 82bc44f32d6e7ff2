"""The child process that reads source code by its grammar: `python -m …process.syntax_child LIMITS-AS-JSON`.

It is as confined as the one that reads files, once the grammars are in memory.
"""

from __future__ import annotations

from typing import Any

from agentic_rag.adapters.parsing.process.child import Answer, CpuLimit, run
from agentic_rag.adapters.parsing.process.limits import ParserLimits
from agentic_rag.adapters.parsing.process.wire import definitions_frame
from agentic_rag.adapters.parsing.syntax.grammars import preload, read_definitions


def main() -> None:
    """Serve requests until standard input ends."""
    run(_ready)


def _ready() -> Answer:
    preload()
    return _reply


def _reply(content: bytes, header: dict[str, Any], limits: ParserLimits, allowance: CpuLimit) -> bytes:
    return definitions_frame(read_definitions(header["file_name"], content))


if __name__ == "__main__":
    main()
