"""What searches a workspace's seeds add, and which seeds it may have."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.kernel.errors import InvalidInput, Misconfigured
from agentic_rag.workspaces.web_access import LONGEST_SEED, MAX_SEEDS, WebAccess
from agentic_rag.workspaces.web_profiles import (
    FOLDER,
    GENERAL,
    PROFILES,
    ProfileName,
    WebProfile,
    load_profiles,
    read_profile,
    with_own_profiles,
)

KITES = replace(GENERAL, seeds=("Acme", "Blue Kite", "Oslo"))
NAMES = st.text(alphabet="ab c", max_size=8)


@pytest.mark.parametrize(
    ("texts", "most", "searches"),
    [
        (
            ["Which campaign began?"],
            3,
            ("Which campaign began?", "Which campaign began? Acme", "Which campaign began? Blue Kite"),
        ),
        (["Which campaign did acme begin?"], 4, ("Which campaign did acme begin?",)),
        (["What does BLUE  kite's new film cost?"], 4, ("What does BLUE  kite's new film cost?",)),
        (["Acmeology", "two", "two"], 3, ("Acmeology", "two", "Acmeology Acme")),
        ([], 4, ()),
    ],
)
def test_while_there_is_room_the_first_search_is_made_with_each_seed_too(
    texts: list[str], most: int, searches: tuple[str, ...]
) -> None:
    assert KITES.searches(texts, most) == searches


@given(st.lists(NAMES, max_size=5), st.lists(NAMES, max_size=4), st.integers(1, 6))
def test_what_a_question_asks_goes_before_what_seeds_add(texts: list[str], seeds: list[str], most: int) -> None:
    asked = tuple(dict.fromkeys(texts))
    found = replace(GENERAL, seeds=tuple(seeds)).searches(texts, most)

    assert found[: len(asked)] == asked[:most]
    assert len(found) == len(set(found)) <= most
    assert GENERAL.searches(texts, most) == asked[:most]


@pytest.mark.parametrize(
    "seeds", [("",), (" a",), ("a  b",), ("x" * (LONGEST_SEED + 1),), tuple(map(str, range(MAX_SEEDS + 1))), ("a\0",)]
)
def test_seeds_beyond_their_limits_are_refused(seeds: tuple[str, ...]) -> None:
    with pytest.raises(InvalidInput) as refused:
        WebAccess(seeds=seeds)
    assert refused.value.path == ("web", "seeds")


def test_profiles_are_files_that_can_be_copied(tmp_path: Path) -> None:
    for one in FOLDER.glob("*.toml"):
        (tmp_path / one.name).write_bytes(one.read_bytes())
    edited = (tmp_path / "code.toml").read_text().replace("newest_days = 30", "newest_days = 14")
    (tmp_path / "code.toml").write_text(edited)

    copied = load_profiles(tmp_path)

    assert {name.value: one.newest_days for name, one in PROFILES.items()} == {
        "general": None,
        "marketing": 7,
        "code": 30,
    }
    assert {name.value: one.newest_days for name, one in copied.items()} == {
        "general": None,
        "marketing": 7,
        "code": 14,
    }
    assert len(PROFILES) == len(list(FOLDER.iterdir()))


def test_what_a_profile_leaves_out_has_its_default() -> None:
    assert read_profile("", "a.toml") == WebProfile()
    hosts = read_profile('newest_days = 3\npreference = 1\nfirst_hosts = ["*.example.org"]', "a.toml")
    assert hosts == WebProfile(3, 1.0, ("*.example.org",))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("newest_days", "it is no TOML"),
        ("days = 7", "nobody knows `days`"),
        ("newest_days = 0", "`newest_days` takes 1 to 3650"),
        ("newest_days = true", "`newest_days` takes 1 to 3650"),
        ('newest_days = "7"', "`newest_days` takes 1 to 3650"),
        ("newest_days = 7\npreference = 1.5", "`preference` takes 0 to 1"),
        ("newest_days = 7\npreference = nan", "`preference` takes 0 to 1"),
        ("preference = 0.5", "needs `newest_days`"),
        ('first_hosts = "docs.rs"', "is a list of hosts"),
        ("first_hosts = [1]", "a list of at most 200 hosts"),
        ('first_hosts = ["docs.rs, docs.python.org"]', "a list of at most 200 hosts"),
        ('first_hosts = ["127.0.0.1"]', "is no public host"),
    ],
)
def test_a_profile_that_cannot_be_meant_is_refused_by_file_and_value(text: str, why: str) -> None:
    with pytest.raises(Misconfigured, match=r"a\.toml") as refused:
        read_profile(text, "a.toml")

    assert refused.value.code == "PROFILE_INVALID"
    assert why in refused.value.message


def test_a_profile_without_a_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match=r"general\.toml"):
        load_profiles(tmp_path)


def test_own_files_take_the_place_of_those_that_come_with_the_product(tmp_path: Path) -> None:
    assert with_own_profiles(tmp_path / "none", PROFILES) == PROFILES
    assert with_own_profiles(tmp_path, PROFILES) == PROFILES

    (tmp_path / "code.toml").write_text("newest_days = 14\npreference = 1")
    (tmp_path / "notes.md").write_text("not a profile")

    own = with_own_profiles(tmp_path, PROFILES)
    assert own == {**PROFILES, ProfileName.CODE: WebProfile(14, 1.0)}


@pytest.mark.parametrize(("name", "text"), [("sales.toml", ""), ("code.toml", "days = 7"), ("general.toml", "\0")])
def test_an_own_file_that_is_no_profile_is_refused_by_its_path(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)

    with pytest.raises(Misconfigured, match=name.replace(".", r"\.")) as refused:
        with_own_profiles(tmp_path, PROFILES)
    assert refused.value.code == "PROFILE_INVALID"
