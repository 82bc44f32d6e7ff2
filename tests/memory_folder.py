"""Where the suites keep files: in memory, where there is room. A database of a test is a thousand small files."""

import os
from pathlib import Path

FOLDER = "/dev/shm"
NEEDED_BYTES = 8 << 30
"""Four times what all suites at once were seen to hold."""


def memory_folder() -> str | None:
    """Linux's folder in memory; None where it is small, as in containers, may not hold programs, or memory is short."""
    try:
        folder = os.statvfs(FOLDER)
        told = Path("/proc/meminfo").read_text("ascii")
    except OSError:
        return None
    (available,) = [int(line.split()[1]) << 10 for line in told.splitlines() if line.startswith("MemAvailable:")]
    is_roomy = min(folder.f_bavail * folder.f_frsize, available) >= NEEDED_BYTES
    return FOLDER if is_roomy and not folder.f_flag & os.ST_NOEXEC else None
