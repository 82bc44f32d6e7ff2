"""Errors for GraphQL clients. Product errors show their code; all others are masked. Each has a trace id."""

import enum
import traceback
from collections.abc import Sequence
from typing import Any

import strawberry
from graphql import GraphQLError, GraphQLSyntaxError

from agentic_rag.kernel.errors import (
    AgenticRagError,
    BudgetExceeded,
    DependencyUnavailable,
    InvalidInput,
    MissingProviderKey,
    NotFound,
    PolicyRefused,
    Retryable,
)
from agentic_rag.kernel.telemetry import Telemetry

INTERNAL_MESSAGE = "Something went wrong here. Quote the trace id when you report it."

BAD_VALUE_MESSAGE = "The document holds a value that its type cannot represent."
"""Replaces the message of the Python function that refused the value."""

MAX_MESSAGE_CHARACTERS = 1000
"""Messages quote the request; this keeps them from repeating a whole one."""

USER_ERRORS = (InvalidInput, NotFound, PolicyRefused, BudgetExceeded, MissingProviderKey)
"""Faults that the caller can correct. Mutations and `ragAnswer` return them as `userErrors`."""


@strawberry.enum(description="Stable codes of faults that a caller can put right.")
class ErrorCode(enum.Enum):
    """The public codes. docs/errors.md lists the remedies."""

    API_KEY_NOT_FOUND = "API_KEY_NOT_FOUND"
    AS_OF_UNAVAILABLE = "AS_OF_UNAVAILABLE"
    BUDGET_EXCEEDED = "BUDGET_EXCEEDED"
    WEB_BUDGET_SPENT = "WEB_BUDGET_SPENT"
    WEB_REFUSED = "WEB_REFUSED"
    EMBEDDING_MODEL_UNKNOWN = "EMBEDDING_MODEL_UNKNOWN"
    DOCUMENT_NOT_FOUND = "DOCUMENT_NOT_FOUND"
    CONTEXT_BUDGET_TOO_SMALL = "CONTEXT_BUDGET_TOO_SMALL"
    CONFIRMATION_WRONG = "CONFIRMATION_WRONG"
    CONTENT_ENCRYPTED = "CONTENT_ENCRYPTED"
    CONTENT_MISMATCH = "CONTENT_MISMATCH"
    CONTENT_UNSUPPORTED = "CONTENT_UNSUPPORTED"
    CORPUS_TOO_SMALL = "CORPUS_TOO_SMALL"
    DATASET_INVALID = "DATASET_INVALID"
    DEFAULT_ORGANISATION = "DEFAULT_ORGANISATION"
    DOCUMENT_ERASED = "DOCUMENT_ERASED"
    FEEDBACK_INVALID = "FEEDBACK_INVALID"
    FILTER_INVALID = "FILTER_INVALID"
    GATE_INVALID = "GATE_INVALID"
    HISTORY_TOO_LONG = "HISTORY_TOO_LONG"
    IDEMPOTENCY_CONFLICT = "IDEMPOTENCY_CONFLICT"
    SUBJECT_RESERVED = "SUBJECT_RESERVED"
    INVALID_ID = "INVALID_ID"
    INVALID_INPUT = "INVALID_INPUT"
    JOB_NOT_FOUND = "JOB_NOT_FOUND"
    METADATA_INVALID = "METADATA_INVALID"
    MODEL_RETIRED = "MODEL_RETIRED"
    NOT_FOUND = "NOT_FOUND"
    OPTION_OUT_OF_RANGE = "OPTION_OUT_OF_RANGE"
    ORGANISATION_EXISTS = "ORGANISATION_EXISTS"
    ORIGINAL_MISSING = "ORIGINAL_MISSING"
    POLICY_REFUSED = "POLICY_REFUSED"
    PROVIDER_KEY_INVALID = "PROVIDER_KEY_INVALID"
    PROVIDER_KEY_MISSING = "PROVIDER_KEY_MISSING"
    PROVIDER_URL_REFUSED = "PROVIDER_URL_REFUSED"
    QUESTION_EMPTY = "QUESTION_EMPTY"
    QUESTION_TOO_LONG = "QUESTION_TOO_LONG"
    RESTORE_TARGET_EXISTS = "RESTORE_TARGET_EXISTS"
    RUN_NOT_COMPARABLE = "RUN_NOT_COMPARABLE"
    RUN_NOT_FOUND = "RUN_NOT_FOUND"
    THREAD_NOT_FOUND = "THREAD_NOT_FOUND"
    SAVED_QUESTION_NOT_FOUND = "SAVED_QUESTION_NOT_FOUND"
    SAVED_QUESTIONS_FULL = "SAVED_QUESTIONS_FULL"
    SNAPSHOT_DAMAGED = "SNAPSHOT_DAMAGED"
    SNAPSHOT_NOT_FOUND = "SNAPSHOT_NOT_FOUND"
    SNAPSHOT_TOO_NEW = "SNAPSHOT_TOO_NEW"
    SNAPSHOT_UNFINISHED = "SNAPSHOT_UNFINISHED"
    SOURCE_EXISTS = "SOURCE_EXISTS"
    SOURCE_INVALID = "SOURCE_INVALID"
    SOURCE_SHRANK = "SOURCE_SHRANK"
    SOURCE_TOO_MANY_ITEMS = "SOURCE_TOO_MANY_ITEMS"
    STORAGE_QUOTA_EXCEEDED = "STORAGE_QUOTA_EXCEEDED"
    UPLOAD_EMPTY = "UPLOAD_EMPTY"
    UPLOAD_TOO_LARGE = "UPLOAD_TOO_LARGE"
    SPACE_ALREADY_ACTIVE = "SPACE_ALREADY_ACTIVE"
    SPACE_GONE = "SPACE_GONE"
    SPACE_UNKNOWN = "SPACE_UNKNOWN"
    SWITCH_NOT_FOUND = "SWITCH_NOT_FOUND"
    SWITCH_UNDER_WAY = "SWITCH_UNDER_WAY"
    TEMPLATE_INVALID = "TEMPLATE_INVALID"
    TEMPLATE_NOT_FOUND = "TEMPLATE_NOT_FOUND"
    TEMPLATE_UNKNOWN = "TEMPLATE_UNKNOWN"
    VALUE_NOT_STORABLE = "VALUE_NOT_STORABLE"
    WORKSPACE_BUSY = "WORKSPACE_BUSY"
    WORKSPACE_EXISTS = "WORKSPACE_EXISTS"
    WORKSPACE_NOT_FOUND = "WORKSPACE_NOT_FOUND"
    WORKSPACE_UNNAMED = "WORKSPACE_UNNAMED"


@strawberry.type(description="A fault that the caller can put right.")
class UserError:
    code: ErrorCode
    message: str
    path: list[str] = strawberry.field(description="The offending argument, outermost first; empty when none is.")


def user_error(error: AgenticRagError) -> UserError:
    """A product error as a `UserError`. A code outside `ErrorCode` falls back to the code of the error's class."""
    for code in (error.code, type(error).code):
        if code in ErrorCode.__members__:
            break
    else:
        code = ErrorCode.INVALID_INPUT.value
    return UserError(code=ErrorCode[code], message=error.message, path=list(getattr(error, "path", ())))


def error_entry(message: str, code: str, trace_id: str) -> dict[str, Any]:
    """An error of a response that no field ran into."""
    return {"message": message, "extensions": {"code": code, "traceId": trace_id}}


def response_error(error: AgenticRagError, trace_id: str) -> dict[str, Any]:
    """A product error that stopped a request before any field ran."""
    return {"message": error.message, "extensions": _product_extensions(error, trace_id)}


def present(errors: Sequence[GraphQLError], trace_id: str, telemetry: Telemetry) -> list[dict[str, Any]]:
    """The errors of a response. An error that is neither the client's fault nor a product error is logged with its
    traceback and answered as INTERNAL.
    """
    return [_present(error, trace_id, telemetry) for error in errors]


def _present(error: GraphQLError, trace_id: str, telemetry: Telemetry) -> dict[str, Any]:
    cause = error.original_error
    while isinstance(cause, GraphQLError):
        cause = cause.original_error
    shown: dict[str, Any] = {"message": _truncate(error.message)}
    if error.locations:
        shown["locations"] = [{"line": place.line, "column": place.column} for place in error.locations]
    if error.path is not None:
        shown["path"] = error.path
    if isinstance(cause, AgenticRagError):
        shown["message"] = cause.message
        shown["extensions"] = _product_extensions(cause, trace_id)
        report_product(cause, telemetry)
    elif _is_request_fault(error, cause):
        if isinstance(cause, Exception):
            shown["message"] = BAD_VALUE_MESSAGE
        shown["extensions"] = {"code": _request_code(error), "traceId": trace_id}
    else:
        shown["message"] = INTERNAL_MESSAGE
        shown["extensions"] = {"code": "INTERNAL", "traceId": trace_id}
        report_internal(cause or error, telemetry)
    return shown


def _truncate(message: str) -> str:
    return message if len(message) <= MAX_MESSAGE_CHARACTERS else f"{message[:MAX_MESSAGE_CHARACTERS]} …"


def report_internal(error: BaseException, telemetry: Telemetry) -> None:
    """Log a fault of the program."""
    telemetry.event(
        "request_failed",
        level="error",
        error=type(error).__name__,
        exception="".join(traceback.format_exception(error)),
    )


def report_product(error: AgenticRagError, telemetry: Telemetry) -> None:
    """Log a refusal that the caller cannot correct, with the foreign error behind it, which clients never see."""
    if not isinstance(error, USER_ERRORS):
        telemetry.event(
            "request_refused", level="warning", code=error.code, message=error.message, reason=error.reason or None
        )


def _is_request_fault(error: GraphQLError, cause: BaseException | None) -> bool:
    """Whether the error concerns the document (syntax, limits, validation, variables): no field ran."""
    if error.path is not None:
        return False
    return cause is None or bool(error.nodes)


def _request_code(error: GraphQLError) -> str:
    stated = (error.extensions or {}).get("code")
    if isinstance(stated, str):
        return stated
    return "GRAPHQL_SYNTAX" if isinstance(error, GraphQLSyntaxError) else "GRAPHQL_INVALID"


def _product_extensions(error: AgenticRagError, trace_id: str) -> dict[str, Any]:
    extensions: dict[str, Any] = {"code": error.code, "traceId": trace_id}
    if isinstance(error, DependencyUnavailable):
        extensions["dependency"] = error.dependency
    if isinstance(error, Retryable) and error.retry_after_seconds is not None:
        extensions["retryAfterSeconds"] = error.retry_after_seconds
    if isinstance(error, InvalidInput) and error.path:
        extensions["argument"] = list(error.path)
    return extensions
