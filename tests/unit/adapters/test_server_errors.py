"""What a server's refusal looks like to a caller: never in the words of its driver."""

import asyncpg
import pytest

from agentic_rag.adapters.postgres.session.errors import translate
from agentic_rag.kernel.errors import AgenticRagError, DependencyUnavailable, Permanent

SECRET = "db-7.internal:5432 user=rag relation rag_documents"


@pytest.mark.parametrize(
    "kind",
    [
        OSError,
        asyncpg.InvalidPasswordError,
        asyncpg.UndefinedTableError,
        asyncpg.InsufficientPrivilegeError,
        asyncpg.UniqueViolationError,
        asyncpg.ForeignKeyViolationError,
        asyncpg.DataError,
        asyncpg.InternalClientError,
        asyncpg.SyntaxOrAccessError,
    ],
)
def test_no_message_names_what_the_driver_named(kind: type[Exception]) -> None:
    driver = kind(SECRET)

    with pytest.raises(AgenticRagError) as caught:
        raise translate(driver) from driver

    assert "internal" not in caught.value.message
    assert "rag_documents" not in caught.value.message
    assert caught.value.reason == SECRET


def test_a_driver_that_lost_its_server_between_two_messages_is_an_outage() -> None:
    assert isinstance(translate(asyncpg.InternalClientError("cannot switch to state 12")), DependencyUnavailable)


def test_a_database_without_room_is_not_told_to_be_away() -> None:
    full = translate(asyncpg.DiskFullError("could not extend file: No space left on device"))

    assert isinstance(full, DependencyUnavailable)
    assert full.code == "STORAGE_FULL"
    assert "does not answer" not in full.message


def test_a_process_that_had_no_processor_time_is_not_told_that_postgres_is_away() -> None:
    stalled = translate(asyncpg.IdleInTransactionSessionTimeoutError("terminating connection"))

    assert isinstance(stalled, DependencyUnavailable)
    assert "processor time" in stalled.message
    assert "does not answer" not in stalled.message


def test_an_error_of_our_own_has_no_reason_beyond_its_message() -> None:
    inner = Permanent("Said already.")
    outer = Permanent("Outer.")
    outer.__cause__ = inner

    assert (inner.reason, outer.reason) == ("", "")
