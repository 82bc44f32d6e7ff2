"""Keys of originals: whatever a file or an agent is called, the key is one a store can hold and no other upload has."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.documents.blob_keys import original_key, safe_file_name, safe_part
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.workspace import Workspace, WorkspaceKind

ORG = UUID("00000000-0000-4000-8000-0000000000aa")
WORKSPACE = UUID("00000000-0000-4000-8000-000000000001")
UPLOAD = UUID("0190a0b1-0000-7000-8000-0123456789ab")
AT = datetime(2026, 11, 21, 10, 5, 7, 42, tzinfo=UTC)
GENERAL = Workspace(WorkspaceRef(ORG, WORKSPACE), "w", WorkspaceKind.GENERAL, None, 0, 0, None, AT)

PART = re.compile(r"(?!\.)[A-Za-z0-9._-]{1,200}")


def test_an_agents_document_lies_where_its_agent_is_named() -> None:
    agent = replace(GENERAL, kind=WorkspaceKind.AGENT, external_ref="writer-7")

    key = original_key(agent, AT, UPLOAD, "Guide.pdf")

    assert key == f"agent-documents/{ORG}/writer-7/20261121T100507000042Z-0123456789ab-Guide.pdf"


@pytest.mark.parametrize(
    ("kind", "reference", "begins"),
    [
        (WorkspaceKind.AGENT, None, f"agent-documents/{ORG}/{WORKSPACE}/"),
        (WorkspaceKind.PROJECT, "p1", f"project-documents/{ORG}/p1/"),
        (WorkspaceKind.GENERAL, "ref", f"documents/{ORG}/{WORKSPACE}/"),
    ],
)
def test_the_folder_says_whose_documents_they_are(kind: WorkspaceKind, reference: str | None, begins: str) -> None:
    workspace = replace(GENERAL, kind=kind, external_ref=reference)

    assert original_key(workspace, AT, UPLOAD, "a.md").startswith(begins)


@pytest.mark.parametrize(
    ("given_name", "kept"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\secret\\plan.docx", "plan.docx"),
        (".env", "env"),
        ("...", "file"),
        ("", "file"),
        ("Prüfung für Öl.pdf", "Prufung_fur_Ol.pdf"),
        ("a\r\nb\0c.md", "a_b_c.md"),
        ("手引き.pdf", "pdf"),
        ("x" * 300 + ".pdf", "x" * 96 + ".pdf"),
    ],
)
def test_a_file_name_keeps_what_a_key_can_hold(given_name: str, kept: str) -> None:
    assert safe_file_name(given_name) == kept


@given(st.text(max_size=300), st.text(min_size=1, max_size=200), st.sampled_from(WorkspaceKind))
def test_every_key_can_be_stored(file_name: str, reference: str, kind: WorkspaceKind) -> None:
    key = original_key(replace(GENERAL, kind=kind, external_ref=reference), AT, UPLOAD, file_name)

    parts = key.split("/")
    assert len(parts) == 4
    assert all(PART.fullmatch(part) for part in parts)


@given(st.text(min_size=1, max_size=200), st.text(min_size=1, max_size=200))
def test_no_two_agents_share_a_folder(one: str, other: str) -> None:
    assert (safe_part(one) == safe_part(other)) == (one == other)
