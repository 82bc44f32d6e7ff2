"""Public ids: what is encoded is decoded, and an id names only a thing of the kind that is asked for."""

from __future__ import annotations

from uuid import UUID

import pytest

from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.kernel.public_ids import NodeId, NodeKind, decode, encode, encode_in_organisation

WORKSPACE, KEY = UUID(int=1), UUID(int=2)
OF_ORGANISATION = {NodeKind.WORKSPACE, NodeKind.API_KEY}


def id_of(kind: NodeKind) -> str:
    return encode_in_organisation(kind, KEY) if kind in OF_ORGANISATION else encode(kind, WORKSPACE, KEY)


@pytest.mark.parametrize("kind", NodeKind)
def test_an_id_names_its_thing_and_nothing_of_another_kind(kind: NodeKind) -> None:
    named = decode(id_of(kind), kind)

    assert named == NodeId(kind, KEY if kind in OF_ORGANISATION else WORKSPACE, KEY)
    for other in set(NodeKind) - {kind}:
        with pytest.raises(InvalidInput) as refused:
            decode(id_of(kind), other)
        assert refused.value.code == "INVALID_ID"
