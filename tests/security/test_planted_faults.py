"""A matrix that misses nothing proves nothing: with one check of the product taken out each misses."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agentic_rag.documents import document_access
from tests.security.ground import Ground, opened_ground
from tests.security.rights_matrix import declared_by, differing
from tests.security.rights_world import in_short, rights_world

pytestmark = [pytest.mark.integration, pytest.mark.network, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def ground() -> Iterator[Ground]:
    with opened_ground() as ground:
        yield ground


async def test_the_matrix_of_rights_misses_when_every_member_has_the_rights_of_owners(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with rights_world(ground) as world:
        callers = list(in_short(world.callers))
        asked = declared_by(world), callers, "Ownership"
        assert (await differing(world, *asked))[1] == []

        monkeypatch.setattr(document_access, "may_own", lambda *_: True)

        _, wrong = await differing(world, *asked)
    assert [line for line in wrong if "reader/member" in line]
