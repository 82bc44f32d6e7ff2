"""Originals over plain HTTP."""

from email.message import Message
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.kernel.public_ids import NodeKind, encode
from agentic_rag_server.parts import ServerOptions
from agentic_rag_server.rest.documents.source import content_disposition
from tests.api.builders import WORKSPACE_ID, client, document_id, numbered
from tests.api.stored_original import holding


async def test_the_original_comes_back_byte_by_byte_under_a_strict_policy() -> None:
    async with client(holding(file_name="Safety valves.pdf")) as http:
        response = await http.get(f"/v1/documents/{document_id(1)}/source")

    assert response.content == b"%PDF-1.7 whole content"
    assert response.headers["content-type"] == "application/pdf"
    assert response.headers["content-disposition"] == 'inline; filename="Safety valves.pdf"'
    assert response.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in response.headers["content-security-policy"]


@pytest.mark.parametrize("media_type", ["text/html", "image/svg+xml", "application/xhtml+xml", "text/xml"])
async def test_originals_that_could_run_are_saved_not_shown(media_type: str) -> None:
    async with client(holding(media_type=media_type)) as http:
        response = await http.get(f"/v1/documents/{document_id(1)}/source")

    assert response.headers["content-disposition"].startswith("attachment")
    assert response.headers["content-type"] == media_type


async def test_an_odd_media_type_is_not_repeated() -> None:
    async with client(holding(media_type="text/html\r\nset-cookie: a=b")) as http:
        response = await http.get(f"/v1/documents/{document_id(1)}/source")

    assert response.headers["content-type"] == "application/octet-stream"
    assert "set-cookie" not in response.headers


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("plain.pdf", 'attachment; filename="plain.pdf"'),
        ('a"b.pdf', "attachment; filename=\"a_b.pdf\"; filename*=UTF-8''a%22b.pdf"),
        ("../../etc/passwd", 'attachment; filename="passwd"'),
        ("C:\\Users\\ada\\x.docx", 'attachment; filename="x.docx"'),
        ("a\r\nSet: x", "attachment; filename=\"aSet_ x\"; filename*=UTF-8''aSet%3A%20x"),
        ("é.pdf", "attachment; filename=\"_.pdf\"; filename*=UTF-8''%C3%A9.pdf"),
        ("", 'attachment; filename="document"'),
        ("...", 'attachment; filename="document"'),
        ("a/", 'attachment; filename="document"'),
        ("pdf\u202egnp.exe", 'attachment; filename="pdfgnp.exe"'),
    ],
)
def test_file_names_are_made_safe(name: str, expected: str) -> None:
    assert content_disposition(name, inline=False) == expected


@given(st.text(max_size=400))
def test_any_file_name_gives_one_header_line_of_ascii(name: str) -> None:
    header = content_disposition(name, inline=True)

    message = Message()
    message["Content-Disposition"] = header
    assert header.isascii()
    assert header.isprintable()
    shown = header.partition('filename="')[2].partition('"')[0]
    assert shown
    assert not set(shown) & set('/\\"')
    assert "/" not in unquote(header.partition("UTF-8''")[2])


@pytest.mark.parametrize(
    ("path_id", "status", "code"),
    [
        ("nonsense", 400, "INVALID_ID"),
        (WORKSPACE_ID, 400, "INVALID_ID"),
        (document_id(99), 404, "DOCUMENT_NOT_FOUND"),
        (encode(NodeKind.DOCUMENT, numbered(3), numbered(1)), 404, "DOCUMENT_NOT_FOUND"),
    ],
)
async def test_a_document_that_is_not_there_has_no_source(path_id: str, status: int, code: str) -> None:
    async with client(holding()) as http:
        response = await http.get(f"/v1/documents/{path_id}/source")

    assert (response.status_code, response.json()["error"]["code"]) == (status, code)
    assert len(response.json()["error"]["traceId"]) == 32


async def test_a_source_asks_for_a_token_and_the_right_organisation() -> None:
    async with client(holding(), token=None) as http:
        nobody = await http.get(f"/v1/documents/{document_id(1)}/source")
    async with client(holding(), token="other-token") as http:
        stranger = await http.get(f"/v1/documents/{document_id(1)}/source")

    assert (nobody.status_code, nobody.json()["error"]["code"]) == (401, "UNAUTHENTICATED")
    assert nobody.headers["www-authenticate"].startswith("Bearer")
    assert stranger.status_code == 404


async def test_a_missing_original_is_404_before_any_byte() -> None:
    container = holding()
    container.blobs.content.clear()
    async with client(container) as http:
        response = await http.get(f"/v1/documents/{document_id(1)}/source")

    assert (response.status_code, response.json()["error"]["code"]) == (404, "ORIGINAL_MISSING")


async def test_a_document_that_failed_at_once_still_has_its_original() -> None:
    container = holding(content_hash=None)
    async with client(container) as http:
        found = await http.get(f"/v1/documents/{document_id(1)}/source")
        container.database.originals.clear()
        missing = await http.get(f"/v1/documents/{document_id(1)}/source")

    assert found.content == b"%PDF-1.7 whole content"
    assert missing.json()["error"]["code"] == "ORIGINAL_MISSING"


async def test_sources_are_refused_while_the_product_is_off() -> None:
    container = holding()
    container.options = ServerOptions(enabled=False)
    async with client(container) as http:
        response = await http.get(f"/v1/documents/{document_id(1)}/source")

    assert (response.status_code, response.json()["error"]["code"]) == (403, "FEATURE_DISABLED")
