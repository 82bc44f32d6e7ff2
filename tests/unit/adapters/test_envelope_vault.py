"""The envelope: only its own organisation, provider and master key open it, and rewrapping leaves the key sealed."""

import pickle
from dataclasses import replace
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.adapters.vault.envelope import EnvelopeVault
from agentic_rag.kernel.errors import Misconfigured, Permanent
from agentic_rag.kernel.secret import Secret
from agentic_rag.models.providers.provider_keys import Provider, format_master_key, parse_master_keys

OURS, THEIRS = UUID(int=1), UUID(int=2)
OLD, NEW = bytes(range(32)), bytes(range(1, 33))
KEY = Secret("sk-live-0123456789abcdef")


@given(st.text(min_size=1, max_size=200), st.sampled_from([*(one.value for one in Provider), "source:1"]))
def test_what_is_sealed_opens_again(text: str, owner: str) -> None:
    text = text.encode("utf-8", "replace").decode()
    vault = EnvelopeVault({"old": OLD})

    sealed = vault.seal(OURS, owner, Secret(text))

    assert vault.open(OURS, owner, sealed).reveal() == text


def test_two_envelopes_of_one_key_have_nothing_in_common() -> None:
    vault = EnvelopeVault({"old": OLD})
    one, two = vault.seal(OURS, Provider.OPENAI.value, KEY), vault.seal(OURS, Provider.OPENAI.value, KEY)

    assert one.ciphertext != two.ciphertext
    assert one.wrapped_key != two.wrapped_key
    assert KEY.reveal().encode() not in one.ciphertext + one.wrapped_key


@pytest.mark.parametrize(("org_id", "owner"), [(THEIRS, "openai"), (OURS, "gemini")])
def test_an_envelope_in_another_row_does_not_open(org_id: UUID, owner: str) -> None:
    vault = EnvelopeVault({"old": OLD})
    sealed = vault.seal(OURS, Provider.OPENAI.value, KEY)

    with pytest.raises(Permanent) as refusal:
        vault.open(org_id, owner, sealed)

    assert refusal.value.code == "PROVIDER_KEY_UNREADABLE"
    assert KEY.reveal() not in str(refusal.value)


@pytest.mark.parametrize("part", ["wrap_nonce", "wrapped_key", "nonce", "ciphertext"])
def test_a_changed_envelope_does_not_open(part: str) -> None:
    vault = EnvelopeVault({"old": OLD})
    sealed = vault.seal(OURS, Provider.OPENAI.value, KEY)
    bytes_of_it: bytes = getattr(sealed, part)
    changed = replace(sealed, **{part: bytes([bytes_of_it[0] ^ 1]) + bytes_of_it[1:]})

    with pytest.raises(Permanent):
        vault.open(OURS, Provider.OPENAI.value, changed)


def test_the_first_master_key_wraps_and_the_others_still_open() -> None:
    sealed = EnvelopeVault({"old": OLD}).seal(OURS, Provider.OPENAI.value, KEY)
    both = EnvelopeVault({"new": NEW, "old": OLD})

    rewrapped = both.rewrap(OURS, Provider.OPENAI.value, sealed)

    assert both.open(OURS, Provider.OPENAI.value, sealed) == KEY
    assert (rewrapped.master_id, rewrapped.ciphertext) == ("new", sealed.ciphertext)
    assert EnvelopeVault({"new": NEW}).open(OURS, Provider.OPENAI.value, rewrapped) == KEY


def test_without_the_master_key_the_remedy_is_named() -> None:
    sealed = EnvelopeVault({"old": OLD}).seal(OURS, Provider.OPENAI.value, KEY)

    with pytest.raises(Misconfigured, match="'old'") as lost:
        EnvelopeVault({"new": NEW}).open(OURS, Provider.OPENAI.value, sealed)
    with pytest.raises(Misconfigured, match="rag provider-key master") as none:
        EnvelopeVault({}).seal(OURS, Provider.OPENAI.value, KEY)

    assert {lost.value.code, none.value.code} == {"MASTER_KEY_MISSING"}


def test_another_key_under_the_same_id_is_told_from_the_right_one() -> None:
    sealed = EnvelopeVault({"old": OLD}).seal(OURS, Provider.OPENAI.value, KEY)

    with pytest.raises(Permanent):
        EnvelopeVault({"old": NEW}).open(OURS, Provider.OPENAI.value, sealed)


def test_master_keys_are_read_in_their_order() -> None:
    masters = parse_master_keys(f"{format_master_key('2026-11', NEW)}, {format_master_key('2025-01', OLD)}")

    assert list(masters.items()) == [("2026-11", NEW), ("2025-01", OLD)]


@pytest.mark.parametrize(
    "text",
    [
        "justanid",
        "a:!!!",
        "a:aGk=",
        f":{format_master_key('', NEW)[1:]}",
        f"{format_master_key('a', NEW)},{format_master_key('a', OLD)}",
    ],
)
def test_a_master_key_that_is_none_is_refused_without_repeating_it(text: str) -> None:
    with pytest.raises(ValueError, match=r"entry|twice") as refusal:
        parse_master_keys(text)

    encoded = text.partition(":")[2]
    assert not encoded or encoded not in str(refusal.value)


def test_a_secret_shows_itself_to_nobody() -> None:
    shown = f"{KEY} {KEY!r} {[KEY]}"

    assert KEY.reveal() not in shown
    with pytest.raises(TypeError):
        pickle.dumps(KEY)
