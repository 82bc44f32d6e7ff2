"""Keys as they are handed over: checked, shown by their last characters only, sent to allowed addresses only."""

import pytest

from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.kernel.secret import Secret
from agentic_rag.models.providers.provider_keys import NewProviderKey, Provider, canonical_url, validate_key

OLLAMA = "http://ollama.internal:11434/v1"


def given(
    text: str = "sk-0123456789abcdefghij", provider: Provider = Provider.OPENAI, url: str | None = None
) -> NewProviderKey:
    return NewProviderKey(provider, Secret(text), url)


def test_the_space_around_a_key_is_none_of_it() -> None:
    assert validate_key(given(" sk-0123456789abcdefghij\n"), ()).key.reveal() == "sk-0123456789abcdefghij"


def test_a_key_is_shown_by_its_last_four_characters_and_a_short_one_not_at_all() -> None:
    assert given().hint == "ghij"
    assert given("short-key").hint == ""


@pytest.mark.parametrize(
    "text", ["", "   ", "short", "sk-with space 123", "sk-ümläut-12345", "k" * 501, "sk-1234\n5678"]
)
def test_a_text_that_is_no_key_is_refused_without_repeating_it(text: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        validate_key(given(text), ())

    assert refusal.value.code == "PROVIDER_KEY_INVALID"
    assert not text.strip() or text not in refusal.value.message


def test_a_url_that_the_operator_allows_is_taken_in_its_canonical_form() -> None:
    checked = validate_key(given(provider=Provider.COMPATIBLE, url="HTTP://Ollama.internal:11434/v1/"), {OLLAMA})

    assert checked.base_url == OLLAMA


@pytest.mark.parametrize(
    "url",
    [
        None,
        "",
        "http://169.254.169.254/latest",
        "http://ollama.internal:11434",
        "http://ollama.internal:11434/v1/../admin",
        "http://ollama.internal:11434/v1?x=1",
        "http://ollama.internal:11434/v1#x",
        "http://ollama.internal:11434@evil.example/v1",
        "http://user:pw@ollama.internal:11434/v1",
        "http://ollama.internal:11434\\@evil.example/v1",
        "https://ollama.internal:11434/v1",
        "ftp://ollama.internal:11434/v1",
        "http://ollama.internal:99999999/v1",
        "http://ollama.internal.:11434/v1",
        "file:///etc/passwd",
        "http://[::1]:11434/v1",
        "http://ollama.internal:11434/v1\r\nHost: x",
    ],
)
def test_any_other_url_is_refused(url: str | None) -> None:
    with pytest.raises(InvalidInput) as refusal:
        validate_key(given(provider=Provider.COMPATIBLE, url=url), {OLLAMA})

    assert refusal.value.code == "PROVIDER_URL_REFUSED"


def test_the_addresses_of_the_known_providers_are_the_operators_business() -> None:
    with pytest.raises(InvalidInput) as refusal:
        validate_key(given(url=OLLAMA), {OLLAMA})

    assert refusal.value.code == "PROVIDER_URL_REFUSED"


def test_canonical_urls_are_their_own_canonical_form() -> None:
    for url in (OLLAMA, "https://[2001:db8::1]:8000/v1", "https://gpu.example"):
        assert canonical_url(url) == url
