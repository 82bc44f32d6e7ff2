"""How deep files lie in files, and how many are opened."""

from __future__ import annotations

from dataclasses import dataclass, field

from agentic_rag.kernel.errors import ParseFailed

_DEEPEST = 3
"""Files inside files that are opened."""
_MOST_FILES = 5_000
"""Files in one that is uploaded, those of all depths together."""


class TooManyFiles(ParseFailed):
    """A file holds more files than are opened, or files nested deeper."""

    code = "PARSE_TOO_LARGE"


@dataclass(slots=True)
class Nesting:
    """How deep in others a file lies, and how many files were opened with the outermost one."""

    depth: int = 0
    opened: list[int] = field(default_factory=lambda: [0])

    def enter(self) -> Nesting:
        """The nesting of one more file in this one. Errors: `TooManyFiles`."""
        self.opened[0] += 1
        if self.depth == _DEEPEST or self.opened[0] > _MOST_FILES:
            raise TooManyFiles(f"it holds more than {_MOST_FILES} files, or files nested deeper than {_DEEPEST}")
        return Nesting(self.depth + 1, self.opened)
