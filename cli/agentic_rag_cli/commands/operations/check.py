"""A finding of `rag doctor`."""

from __future__ import annotations

from dataclasses import dataclass

OK, DEGRADED, FAILED, SKIPPED = "ok", "degraded", "failed", "skipped"


@dataclass(frozen=True, slots=True)
class Check:
    """One finding. `remedy` says how to fix a failure."""

    name: str
    status: str
    detail: str
    code: str | None = None
    remedy: str | None = None


def ok(name: str, detail: str) -> Check:
    """A passed check."""
    return Check(name, OK, detail)


def failure(name: str, code: str, detail: str, remedy: str) -> Check:
    """A failure that a person must fix."""
    return Check(name, FAILED, detail, code, remedy)
