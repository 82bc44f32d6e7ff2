"""The client over a web of the tests' own; the hostile pages and addresses are rows of `make security`."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from tests.web_world import OTHER, PUBLIC, TEXT, Web, opened_web

from agentic_rag.kernel.errors import AgenticRagError, ContentRefused, ContentUnsupported, PolicyRefused, Retryable
from agentic_rag.web.fetch_policy import FetchPolicy
from agentic_rag.web.url_policy import parse_host_list

pytestmark = pytest.mark.network


@pytest.fixture
async def web() -> AsyncIterator[Web]:
    async with opened_web() as web:
        yield web


async def refusal(web: Web, path: str, policy: FetchPolicy | None = None) -> tuple[type[AgenticRagError], str]:
    with pytest.raises(AgenticRagError) as caught:
        await web.fetcher(policy).fetch(f"http://public.test{path}")
    return type(caught.value), caught.value.code


async def test_a_page_comes_whole_from_the_address_that_was_checked(web: Web) -> None:
    page = await web.fetcher().fetch("https://example.com/ok")

    assert (page.url, page.media_type, page.body) == ("https://example.com/ok", "text/plain", TEXT)
    assert (web.resolved, web.dialled) == (["example.com"], [PUBLIC])


async def test_a_packed_page_is_unpacked(web: Web) -> None:
    assert (await web.fetcher().fetch("http://public.test/gz")).body == TEXT * 2400


async def test_requests_carry_no_cookie_and_no_credential(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    fetcher = web.fetcher()

    await fetcher.fetch("http://public.test/b/cookie")
    await fetcher.fetch("http://public.test/ok")

    names = {line.partition(b":")[0].lower() for line in web.requests[-1].split(b"\r\n")[1:] if line}
    assert names == {b"host", b"user-agent", b"accept", b"accept-encoding", b"connection"}


async def test_each_kind_of_refusal_has_its_code(web: Web) -> None:
    assert await refusal(web, "/r/127") == (PolicyRefused, "ADDRESS_REFUSED")
    assert await refusal(web, "/b/exe") == (ContentUnsupported, "FETCH_TYPE")
    assert await refusal(web, "/b/typelie") == (ContentUnsupported, "FETCH_TYPE")
    assert await refusal(web, "/b/br") == (ContentUnsupported, "FETCH_ENCODING")
    assert await refusal(web, "/b/gzip") == (ContentRefused, "FETCH_TOO_LARGE")
    assert await refusal(web, "/b/close") == (Retryable, "FETCH_FAILED")
    assert await refusal(web, "/b/slow", FetchPolicy(parse_host_list("*"), seconds=0.2)) == (Retryable, "FETCH_TIMEOUT")


async def test_only_listed_hosts_are_asked(web: Web) -> None:
    assert await refusal(web, "/ok", FetchPolicy(parse_host_list("example.com"))) == (PolicyRefused, "ADDRESS_REFUSED")
    assert web.resolved == []


async def test_a_redirect_to_another_host_needs_that_host_on_the_list(web: Web) -> None:
    assert await refusal(web, "/r/auth") == (PolicyRefused, "ADDRESS_REFUSED")
    listed = FetchPolicy(parse_host_list("public.test other.test"))

    assert (await web.fetcher(listed).fetch("http://public.test/r/auth")).url == "http://other.test/ok"
    assert web.dialled[-1] == OTHER


async def test_a_certificate_for_another_name_is_refused(web: Web) -> None:
    web.names["wrong.test"] = (PUBLIC,)

    with pytest.raises(Retryable):
        await web.fetcher().fetch("https://wrong.test/ok")
