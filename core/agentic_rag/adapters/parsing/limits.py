"""What parsing one file may use up."""

from __future__ import annotations

from dataclasses import dataclass

_MEGABYTE = 1_000_000
_MEBIBYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class ParserLimits:
    """Limits of one file and of the child process that reads it. Sizes in bytes, times in seconds."""

    content_bytes: int = 64 * _MEBIBYTE
    memory_bytes: int = 512 * _MEBIBYTE
    """Address space beyond what the child holds after its imports."""
    cpu_seconds_per_megabyte: float = 10.0
    least_cpu_seconds: float = 20.0
    most_cpu_seconds: float = 120.0
    wall_over_cpu: float = 2.0
    """Wall-clock time allowed, over CPU time: parsing does no I/O, so more means a starved or stopped child."""
    open_files: int = 32
    text_characters: int = 20_000_000
    pages: int = 10_000
    zip_entries: int = 5_000
    zip_bytes: int = 128 * _MEBIBYTE
    """All parts of a DOCX together, unpacked, as its directory states them."""
    zip_part_bytes: int = 48 * _MEBIBYTE
    """One XML part, unpacked: an XML tree takes about ten times its source."""
    zip_ratio: int = 200
    """Unpacked over packed size, for parts above 1 MiB. Real XML packs 5 to 30 times, deflate's own ceiling is 1032."""
    files_per_child: int = 200

    def cpu_seconds(self, content_length: int) -> float:
        """CPU time for a file of that many bytes."""
        wanted = self.cpu_seconds_per_megabyte * content_length / _MEGABYTE
        return min(max(wanted, self.least_cpu_seconds), self.most_cpu_seconds)
