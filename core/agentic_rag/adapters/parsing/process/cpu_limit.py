"""The CPU time a process gives itself for one file."""

from __future__ import annotations

import resource

from agentic_rag.adapters.parsing.process.limits import ParserLimits


class CpuLimit:
    """Moves the soft limit ahead of what earlier files used; past it the kernel ends this process (SIGXCPU)."""

    def __init__(self, limits: ParserLimits, content_length: int) -> None:
        used = resource.getrusage(resource.RUSAGE_SELF)
        start = used.ru_utime + used.ru_stime
        self._per_page = limits.cpu_seconds_per_page
        self._until = start + limits.cpu_seconds(content_length)
        self._latest = start + limits.most_cpu_seconds
        self._set = 0
        self._apply()

    def page_read(self) -> None:
        """A page gave text: it has earned time for the next one, up to the cap."""
        self._until = min(self._until + self._per_page, self._latest)
        self._apply()

    def _apply(self) -> None:
        # The kernel counts whole seconds.
        until = int(self._until) + 1
        if until == self._set:
            return
        self._set = until
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (until if hard == resource.RLIM_INFINITY else min(until, hard), hard))
