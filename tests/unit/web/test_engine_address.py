"""The setting that names a search engine."""

import pytest

from agentic_rag.settings import load_settings
from agentic_rag.settings.addresses import mask_password
from agentic_rag.settings.load import SettingsInvalid, hide_secrets, mask_secrets
from agentic_rag.web.engine_address import EngineAddress, parse_engine
from agentic_rag.web.search import SearchFilters, SearchRequest, SearchResult, wanted_results
from agentic_rag.web.url_policy import HostList, Scheme


def test_each_engine_is_one_address() -> None:
    own = parse_engine("searxng://search.internal:8888/searx/")
    tls = parse_engine("searxng+https://10.1.2.3")
    brave = parse_engine("brave://SECRET@?usd=0.005&hosts=*.example.org&without=ads.example.org")
    serpapi = parse_engine("serpapi://SE%40CRET@search.example.org")

    assert own == EngineAddress("searxng", Scheme.HTTP, "search.internal", 8888, "/searx", is_own=True)
    assert tls is not None
    assert (tls.scheme, tls.port, tls.is_own) == (Scheme.HTTPS, 443, True)
    assert brave is not None
    assert (brave.host, brave.key, brave.is_own, brave.usd) == ("api.search.brave.com", "SECRET", False, 0.005)
    assert brave.filters == SearchFilters(HostList(("*.example.org",)), HostList(("ads.example.org",)))
    assert serpapi is not None
    assert (serpapi.host, serpapi.key, serpapi.is_own) == ("search.example.org", "SE@CRET", True)
    assert parse_engine("file:/srv/pages.jsonl") == EngineAddress("file", path="/srv/pages.jsonl")
    assert parse_engine("  ") is None


@pytest.mark.parametrize(
    "text",
    [
        "google://KEY@",
        "searxng://",
        "brave://@",
        "brave://KEY@elsewhere.example.org",
        "serpapi+https://KEY@",
        "searxng://host:99999",
        "searxng://host?timeout=3",
        "brave://KEY@?usd=-1",
        "brave://KEY@?hosts=127.0.0.1",
        "file:",
        "https://search.example.org",
    ],
)
def test_an_address_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        parse_engine(text)


@pytest.mark.parametrize("form", ["brave://{}@", "serpapi://{}@search.example.org?usd=1"])
def test_a_key_is_never_shown(form: str) -> None:
    address = form.format("S3CRETKEY")
    settings = load_settings({"AGENTIC_RAG_SEARCH": address})

    assert "S3CRETKEY" not in mask_password(address)
    assert "S3CRETKEY" not in repr(settings)
    assert "S3CRETKEY" not in repr(settings.answering.engine)
    assert "S3CRETKEY" not in mask_secrets(settings)["AGENTIC_RAG_SEARCH"]
    assert "S3CRETKEY" not in hide_secrets(settings, f"cannot reach {address}")
    with pytest.raises(SettingsInvalid) as refused:
        load_settings({"AGENTIC_RAG_SEARCH": f"{form.format('S3CRETKEY').partition('?')[0]}?nonsense=1"})
    assert "S3CRETKEY" not in str(refused.value)


def test_results_that_may_not_be_read_are_dropped() -> None:
    found = tuple(
        SearchResult(url)
        for url in (
            "http://169.254.169.254/latest",
            "https://docs.example.org/a#top",
            "https://docs.example.org/a",
            "javascript:alert(1)",
            "https://ads.example.org/b",
            "https://user:password@docs.example.org/c",
            "https://other.example.com/d",
            "https://docs.example.org/e",
            "https://docs.example.org/f",
        )
    )
    filters = SearchFilters(HostList(("*.example.org",)), HostList(("ads.example.org",)))

    kept = wanted_results(found, SearchRequest("a", filters=filters, top_k=2))

    assert [one.url for one in kept] == ["https://docs.example.org/a", "https://docs.example.org/e"]
