"""A finding of `rag doctor`."""

from __future__ import annotations

from dataclasses import dataclass

OK, DEGRADED, FAILED, SKIPPED = "ok", "degraded", "failed", "skipped"


@dataclass(frozen=True, slots=True)
class Check:
    """One finding. `remedy` says what to do when it failed."""

    name: str
    status: str
    detail: str
    code: str | None = None
    remedy: str | None = None


def ok(name: str, detail: str) -> Check:
    """All is well."""
    return Check(name, OK, detail)


def failure(name: str, code: str, detail: str, remedy: str) -> Check:
    """Something a person must do."""
    return Check(name, FAILED, detail, code, remedy)
