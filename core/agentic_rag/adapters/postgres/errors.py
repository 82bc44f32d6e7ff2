"""What each error of the driver means to the caller: one table."""

# asyncpg ships no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Callable

import asyncpg

from agentic_rag.domain.errors import (
    AgenticRagError,
    DependencyUnavailable,
    InvalidInput,
    Misconfigured,
    NotFound,
    Permanent,
    Retryable,
)


def _unavailable(error: BaseException) -> AgenticRagError:
    reason = str(error) or type(error).__name__
    return DependencyUnavailable(
        f"Postgres does not answer: {reason}. Check DATABASE_URL and `rag doctor`.", dependency="postgres"
    )


def _login_refused(error: BaseException) -> AgenticRagError:
    return Misconfigured(f"Postgres refused DATABASE_URL: {error}.", code="DATABASE_LOGIN_REFUSED")


def _not_migrated(error: BaseException) -> AgenticRagError:
    return Misconfigured(
        f"The database lacks a part of the schema ({error}): run `rag migrate up`.", code="MIGRATIONS_PENDING"
    )


def _no_right(error: BaseException) -> AgenticRagError:
    return Misconfigured(
        f"The database role lacks a right ({error}): run `rag migrate up`, which grants it.",
        code="DATABASE_RIGHTS_MISSING",
    )


def _retryable(error: BaseException) -> AgenticRagError:
    return Retryable(f"Another transaction was in the way: {error}.", code="DATABASE_CONFLICT")


def _gone(error: BaseException) -> AgenticRagError:
    return NotFound(f"The workspace or document this belongs to does not exist: {error}.")


def _bad_value(error: BaseException) -> AgenticRagError:
    return InvalidInput(f"Postgres cannot store a value: {error}.", code="VALUE_NOT_STORABLE")


def _other(error: BaseException) -> AgenticRagError:
    return Permanent(f"Postgres refused a statement: {type(error).__name__}: {error}.", code="DATABASE_ERROR")


_MEANINGS: tuple[tuple[tuple[type[BaseException], ...], Callable[[BaseException], AgenticRagError]], ...] = (
    # The order matters: narrow classes before the wide ones they belong to.
    ((asyncpg.InvalidAuthorizationSpecificationError, asyncpg.InvalidCatalogNameError), _login_refused),
    ((asyncpg.InsufficientPrivilegeError,), _no_right),
    (
        (
            asyncpg.UndefinedTableError,
            asyncpg.UndefinedColumnError,
            asyncpg.UndefinedFunctionError,
            asyncpg.UndefinedObjectError,
            asyncpg.InvalidSchemaNameError,
            # A start-up parameter `role` that names no role.
            asyncpg.InvalidParameterValueError,
        ),
        _not_migrated,
    ),
    (
        (
            asyncpg.TransactionRollbackError,
            asyncpg.LockNotAvailableError,
            asyncpg.UniqueViolationError,
            # The schema changed under a connection that knew the old one.
            asyncpg.InvalidCachedStatementError,
            asyncpg.InternalClientError,
        ),
        _retryable,
    ),
    ((asyncpg.ForeignKeyViolationError,), _gone),
    ((asyncpg.DataError,), _bad_value),
    (
        (
            OSError,
            TimeoutError,
            asyncpg.PostgresConnectionError,
            asyncpg.InsufficientResourcesError,
            asyncpg.OperatorInterventionError,
            # After a fail-over this connection leads to a standby.
            asyncpg.ReadOnlySQLTransactionError,
            asyncpg.IdleInTransactionSessionTimeoutError,
            asyncpg.InterfaceError,
        ),
        _unavailable,
    ),
)


def translate(error: BaseException) -> AgenticRagError:
    """The domain's error for a driver's; raise it `from` that."""
    for classes, meaning in _MEANINGS:
        if isinstance(error, classes):
            return meaning(error)
    return _other(error)
