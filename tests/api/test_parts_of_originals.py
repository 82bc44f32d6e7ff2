"""Originals by parts: `Range`, `If-Range`, `If-None-Match` and HEAD (RFC 9110)."""

import httpx2
import pytest

from agentic_rag.kernel.public_ids import NodeKind, encode
from tests.api.builders import Container, client, document_id, numbered
from tests.api.stored_original import KEY, holding

WHOLE = b"%PDF-1.7 whole content"
SIZE = len(WHOLE)
TAG = f'"{bytes(32).hex()}"'
SOURCE = f"/v1/documents/{document_id(1)}/source"
PATHS = (SOURCE, f"/v1/files/{document_id(1)}/content")


async def take(
    container: Container, headers: dict[str, str], method: str = "GET", path: str = SOURCE, token: str = "admin-token"
) -> httpx2.Response:
    async with client(container, token) as http:
        return await http.request(method, path, headers=headers)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    ("asked", "part"), [("bytes=0-3", range(4)), ("bytes=9-", range(9, SIZE)), ("bytes=-7", range(15, SIZE))]
)
async def test_a_part_is_read_alone_and_told_with_its_place(path: str, asked: str, part: range) -> None:
    container = holding()

    response = await take(container, {"range": asked}, path=path)

    assert (response.status_code, response.content) == (206, WHOLE[part.start : part.stop])
    assert response.headers["content-range"] == f"bytes {part.start}-{part.stop - 1}/{SIZE}"
    assert response.headers["content-length"] == str(len(part))
    assert (response.headers["etag"], response.headers["accept-ranges"]) == (TAG, "bytes")
    assert response.headers["content-type"] == "application/pdf"
    assert "sandbox" in response.headers["content-security-policy"]
    assert container.blobs.read == [part]


async def test_the_whole_says_its_size_and_that_parts_are_served() -> None:
    response = await take(holding(), {})

    assert (response.status_code, response.content) == (200, WHOLE)
    assert response.headers["content-length"] == str(SIZE)
    assert (response.headers["etag"], response.headers["accept-ranges"]) == (TAG, "bytes")
    assert "content-range" not in response.headers


@pytest.mark.parametrize("asked", ["bytes=0-3,8-9", "lines=0-3", "bytes=3-0", "nonsense"])
async def test_what_names_no_single_part_is_answered_with_the_whole(asked: str) -> None:
    response = await take(holding(), {"range": asked})

    assert (response.status_code, response.content) == (200, WHOLE)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("asked", [f"bytes={SIZE}-", "bytes=900-901", "bytes=-0"])
async def test_a_part_behind_the_end_is_refused_with_the_size(path: str, asked: str) -> None:
    container = holding()

    response = await take(container, {"range": asked}, path=path)

    assert (response.status_code, response.json()["error"]["code"]) == (416, "RANGE_NOT_SATISFIABLE")
    assert response.headers["content-range"] == f"bytes */{SIZE}"
    assert container.blobs.read == []


async def test_parts_of_another_file_are_not_mixed_with_those_held() -> None:
    same = await take(holding(), {"range": "bytes=0-3", "if-range": TAG})
    other = await take(holding(), {"range": "bytes=0-3", "if-range": '"other"'})
    dated = await take(holding(), {"range": "bytes=0-3", "if-range": "Sat, 28 Nov 2026 10:00:00 GMT"})
    behind = await take(holding(), {"range": "bytes=900-", "if-range": '"other"'})

    assert [one.status_code for one in (same, other, dated, behind)] == [206, 200, 200, 200]
    assert [one.content for one in (same, other)] == [WHOLE[:4], WHOLE]


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("held", [TAG, f"W/{TAG}", f'"other", {TAG}', "*"])
async def test_a_file_that_is_held_is_not_sent_again(method: str, held: str) -> None:
    container = holding()

    response = await take(container, {"if-none-match": held, "range": "bytes=900-"}, method)

    assert (response.status_code, response.content, response.headers["etag"]) == (304, b"", TAG)
    assert container.blobs.read == []


async def test_a_head_tells_what_a_get_would_send_and_knows_no_parts() -> None:
    container = holding()

    whole = await take(container, {})
    head = await take(container, {"range": "bytes=0-3"}, "HEAD")

    told = ("content-length", "content-type", "content-disposition", "etag", "accept-ranges")
    assert (head.status_code, head.content) == (200, b"")
    assert {name: head.headers[name] for name in told} == {name: whole.headers[name] for name in told}
    assert container.blobs.read == [range(SIZE)]


@pytest.mark.parametrize("given", [{"range": "bytes=0-3"}, {"range": "bytes=900-"}, {"if-none-match": TAG}], ids=str)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_a_foreign_original_is_like_one_that_is_not_there(given: dict[str, str], method: str) -> None:
    missing = f"/v1/documents/{encode(NodeKind.DOCUMENT, numbered(3), numbered(1))}/source"

    foreign = await take(holding(), given, method, token="other-token")
    absent = await take(holding(), given, method, missing)

    assert [one.status_code for one in (foreign, absent)] == [404, 404]
    assert not {"content-range", "etag", "accept-ranges"} & {*foreign.headers, *absent.headers}


async def test_a_part_of_a_missing_original_is_404() -> None:
    container = holding()
    del container.blobs.content[KEY]

    response = await take(container, {"range": "bytes=0-3"})

    assert (response.status_code, response.json()["error"]["code"]) == (404, "ORIGINAL_MISSING")
