"""What a child says before and instead of a reading."""

from __future__ import annotations

import pytest

from agentic_rag.adapters.parsing.process.sandbox import missing_walls
from agentic_rag.adapters.parsing.process.wire import (
    LENGTHS,
    broken_frame,
    decode_document,
    failure_frame,
    frame,
    require_ready,
)
from agentic_rag.kernel.errors import ParseFailed, Retryable


def head_of(sent: bytes) -> bytes:
    head, _ = LENGTHS.unpack(sent[: LENGTHS.size])
    return sent[LENGTHS.size : LENGTHS.size + head]


def test_a_child_whose_installation_is_broken_is_no_fault_of_the_file() -> None:
    sent = broken_frame(ImportError("No module named 'pypdf'"))

    with pytest.raises(Retryable, match="pypdf"):
        require_ready(head_of(sent))
    with pytest.raises(Retryable, match="pypdf"):
        decode_document(head_of(sent), b"", "parsing", "2")


def test_a_child_that_is_ready_names_its_walls() -> None:
    assert require_ready(head_of(frame({"walls": ["limits", "audit"]}, b""))) == ("limits", "audit")


@pytest.mark.parametrize(
    ("standing", "expected"),
    [
        (("network", "landlock", "limits", "seccomp", "audit"), ()),
        (("landlock", "limits", "seccomp", "audit"), ()),
        (("limits", "audit"), ("landlock", "seccomp")),
    ],
)
def test_walls_that_every_process_could_have_are_missed(standing: tuple[str, ...], expected: tuple[str, ...]) -> None:
    assert missing_walls(standing) == expected


def test_a_failure_arrives_with_its_code() -> None:
    sent = failure_frame(ParseFailed("too much", code="PARSE_TOO_LARGE"))

    with pytest.raises(ParseFailed, match="too much") as refused:
        decode_document(head_of(sent), b"", "parsing", "2")
    assert refused.value.code == "PARSE_TOO_LARGE"
