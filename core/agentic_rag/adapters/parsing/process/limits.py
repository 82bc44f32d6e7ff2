"""What parsing one file may use up."""

from __future__ import annotations

import math
from dataclasses import dataclass

from agentic_rag.kernel.errors import ParseFailed

_MEGABYTE = 1_000_000
_MEBIBYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class ParserLimits:
    """Limits of one file and of the child process that reads it. Sizes in bytes, times in seconds."""

    content_bytes: int = 64 * _MEBIBYTE
    memory_bytes: int = 512 * _MEBIBYTE
    """What the child may have resident, interpreter and libraries (about 60 MB) included."""
    cpu_seconds_per_megabyte: float = 10.0
    """CPU time for each megabyte begun."""
    cpu_seconds_per_page: float = 0.25
    """Further CPU time that every page of a PDF earns by giving text: dense tables take 0.1 s a page in a few kB."""
    most_cpu_seconds: float = 240.0
    wall_over_most_cpu: float = 1.2
    """Wall-clock time allowed, over the most CPU time: parsing does no I/O, so only a starved or stopped child needs
    more. Below the five minutes after which a job that stands still is taken for hung.
    """
    text_characters: int = 20_000_000
    pages: int = 10_000
    zip_entries: int = 5_000
    zip_bytes: int = 128 * _MEBIBYTE
    """All parts of a DOCX together, unpacked, as its directory states them."""
    zip_part_bytes: int = 48 * _MEBIBYTE
    """One XML part, unpacked: an XML tree takes about ten times its source."""
    zip_ratio: int = 200
    """Unpacked over packed size, for parts above 1 MiB. Real XML packs 5 to 30 times, deflate's own ceiling is 1032."""
    element_bytes: int = 128
    """What one element of a PDF's array or dictionary takes; a reference takes 115. As many are read as fit the memory.
    """
    files_per_child: int = 200

    def cpu_seconds(self, content_length: int) -> float:
        """CPU time for a file of that many bytes."""
        megabytes = max(1, math.ceil(content_length / _MEGABYTE))
        return min(self.cpu_seconds_per_megabyte * megabytes, self.most_cpu_seconds)

    def require_characters(self, count: int, what: str = "file") -> None:
        """Errors: `ParseFailed` code PARSE_TOO_LARGE for a text of more than `text_characters`."""
        if count > self.text_characters:
            raise ParseFailed(f"the {what} holds more than {self.text_characters} characters", code="PARSE_TOO_LARGE")

    def require_pages(self, count: int, what: str, pages: str = "pages") -> None:
        """Errors: `ParseFailed` code PARSE_TOO_LARGE for more than `pages` of them."""
        if count > self.pages:
            raise ParseFailed(f"the {what} has {count} {pages}; {self.pages} can be read", code="PARSE_TOO_LARGE")

    @property
    def elements(self) -> int:
        """Elements of one array, dictionary or content stream of a PDF."""
        return self.memory_bytes // self.element_bytes

    @property
    def wall_seconds(self) -> float:
        """Wall-clock time for a file."""
        return self.wall_over_most_cpu * self.most_cpu_seconds
