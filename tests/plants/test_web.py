"""Every test of what is remembered, refused and told of the web fails under the lie that is planted for it."""

from __future__ import annotations

import pytest

from tests.plants.web import FAULTS


@pytest.mark.parametrize("name", FAULTS)
async def test_a_test_fails_under_its_lie(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fault = FAULTS[name]
    fault.plant(monkeypatch.setattr)

    with pytest.raises(AssertionError):
        await fault.run()
