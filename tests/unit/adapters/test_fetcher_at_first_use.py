"""Processes that fetch no page pay for no client of the web."""

from __future__ import annotations

import pytest

from agentic_rag.adapters.web import first_use
from agentic_rag.adapters.web.fetcher import GuardedFetcher
from agentic_rag.adapters.web.first_use import FetcherAtFirstUse
from agentic_rag.kernel.errors import PolicyRefused
from agentic_rag.web.fetch_policy import FetchPolicy
from agentic_rag.web.url_policy import parse_host_list


async def test_the_guarded_client_is_made_once_with_the_first_fetch_and_refuses_as_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[FetchPolicy] = []

    def make(policy: FetchPolicy) -> GuardedFetcher:
        made.append(policy)
        return GuardedFetcher(policy)

    monkeypatch.setattr(first_use, "_make", make)
    policy = FetchPolicy(parse_host_list("*"))
    fetcher = FetcherAtFirstUse(policy)
    assert made == []

    for _ in range(2):
        with pytest.raises(PolicyRefused) as refused:
            await fetcher.fetch("http://127.0.0.1/")
        assert refused.value.code == "ADDRESS_REFUSED"

    assert made == [policy]


def test_fetchers_share_what_the_system_trusts() -> None:
    policy = FetchPolicy(parse_host_list("*"))

    assert first_use._make(policy)._tls is first_use._make(policy)._tls
