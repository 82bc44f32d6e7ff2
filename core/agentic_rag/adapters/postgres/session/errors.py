"""One table that maps driver errors to domain errors."""

# asyncpg ships no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Callable

import asyncpg

from agentic_rag.kernel.errors import (
    AgenticRagError,
    DependencyUnavailable,
    InvalidInput,
    Misconfigured,
    NotFound,
    Permanent,
    Retryable,
)


def _unavailable() -> AgenticRagError:
    return DependencyUnavailable(
        "Postgres does not answer. Check DATABASE_URL and `rag doctor`.", dependency="postgres"
    )


def _stall_error() -> AgenticRagError:
    return DependencyUnavailable(
        "Postgres ended a transaction that this process left idle: it had no processor time, or was stopped. Try "
        "again, and look at the machine's load.",
        dependency="postgres",
    )


def _storage_full() -> AgenticRagError:
    return DependencyUnavailable(
        "The disk of Postgres is full: free some space there, then try again.",
        dependency="postgres",
        code="STORAGE_FULL",
    )


def _login_error() -> AgenticRagError:
    return Misconfigured(
        "Postgres refused the login of DATABASE_URL: check its user, password and database.",
        code="DATABASE_LOGIN_REFUSED",
    )


def _migration_error() -> AgenticRagError:
    return Misconfigured("The database lacks a part of the schema: run `rag migrate up`.", code="SCHEMA_TOO_OLD")


def _no_right() -> AgenticRagError:
    return Misconfigured(
        "The database role lacks a right: run `rag migrate up`, which grants it.", code="DATABASE_RIGHTS_MISSING"
    )


def _retryable() -> AgenticRagError:
    return Retryable("Another transaction changed the same rows: try again.", code="DATABASE_CONFLICT")


def _missing_parent_error() -> AgenticRagError:
    return NotFound("The workspace or document this belongs to does not exist.")


def _bad_value() -> AgenticRagError:
    return InvalidInput(
        "A value cannot be stored: it is out of range or holds a forbidden character.", code="VALUE_NOT_STORABLE"
    )


def _other() -> AgenticRagError:
    return Permanent("Postgres refused a statement; the log says why.", code="DATABASE_ERROR")


_MEANINGS: tuple[tuple[tuple[type[BaseException], ...], Callable[[], AgenticRagError]], ...] = (
    # The order matters: subclasses come before their base classes.
    ((asyncpg.InvalidAuthorizationSpecificationError, asyncpg.InvalidCatalogNameError), _login_error),
    ((asyncpg.InsufficientPrivilegeError,), _no_right),
    (
        (
            asyncpg.UndefinedTableError,
            asyncpg.UndefinedColumnError,
            asyncpg.UndefinedFunctionError,
            asyncpg.UndefinedObjectError,
            asyncpg.InvalidSchemaNameError,
            # The start-up parameter `role` names a role that does not exist.
            asyncpg.InvalidParameterValueError,
        ),
        _migration_error,
    ),
    (
        (
            asyncpg.TransactionRollbackError,
            asyncpg.LockNotAvailableError,
            asyncpg.UniqueViolationError,
            # The schema changed after the connection prepared the statement.
            asyncpg.InvalidCachedStatementError,
        ),
        _retryable,
    ),
    ((asyncpg.ForeignKeyViolationError,), _missing_parent_error),
    ((asyncpg.DataError,), _bad_value),
    ((asyncpg.IdleInTransactionSessionTimeoutError, asyncpg.TransactionTimeoutError), _stall_error),
    ((asyncpg.DiskFullError,), _storage_full),
    (
        (
            OSError,
            TimeoutError,
            asyncpg.PostgresConnectionError,
            asyncpg.InsufficientResourcesError,
            asyncpg.OperatorInterventionError,
            # After a fail-over this connection leads to a standby.
            asyncpg.ReadOnlySQLTransactionError,
            asyncpg.InterfaceError,
            # The driver raises this when the server dies between two messages.
            asyncpg.InternalClientError,
        ),
        _unavailable,
    ),
)


def translate(error: BaseException) -> AgenticRagError:
    """The domain error for a driver error. Raise it `from` the driver error: its message never repeats the driver's,
    which names hosts, roles, tables and values.
    """
    for classes, meaning in _MEANINGS:
        if isinstance(error, classes):
            return meaning()
    return _other()
