"""What installs the product is pinned like what it installs."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
RECIPES = ("Makefile", "Dockerfile")
INSTALL = re.compile(r"pip install(?:[^\n]*\\\n)*[^\n]*")
OWN = ("--no-deps",)
"""The product itself, from its clone."""


def test_the_installer_is_one_version_with_its_hashes() -> None:
    lines = [
        one for one in (ROOT / "requirements/installer.txt").read_text().splitlines() if one and one.lstrip()[0] != "#"
    ]
    names = [one for one in lines if not one.startswith(" ")]

    assert names
    assert all(re.fullmatch(r"[\w-]+==[\w.]+ \\", one) for one in names)
    assert all(re.fullmatch(r" +--hash=sha256:[0-9a-f]{64}(?: \\)?", one) for one in lines if one not in names)
    assert len(lines) > len(names)


@pytest.mark.parametrize("recipe", RECIPES)
def test_nothing_is_installed_without_hashes(recipe: str) -> None:
    commands = INSTALL.findall((ROOT / recipe).read_text())

    assert len(commands) > 1
    assert [one for one in commands if "--require-hashes" not in one and not any(own in one for own in OWN)] == []
