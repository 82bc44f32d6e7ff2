"""Which workspaces whoever is served may enter: the stores hide the others while a caller is bound."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

from agentic_rag.tenancy.access import may_manage_access, read_identity
from agentic_rag.tenancy.principals import Principal

_principals: ContextVar[tuple[str, ...]] = ContextVar("entering_principals", default=())


@contextmanager
def entering_as(principal: Principal) -> Generator[None]:
    """Bind the caller of whatever is read and written meanwhile. Who manages all workspaces enters each."""
    before = _principals.set(() if may_manage_access(principal) else read_identity(principal).principals)
    try:
        yield
    finally:
        _principals.reset(before)


def bound_principals() -> tuple[str, ...]:
    """The principals of the bound caller; none for the product itself and for who manages all workspaces."""
    return _principals.get()
