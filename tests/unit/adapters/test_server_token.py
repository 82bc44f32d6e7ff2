"""The token in a server's environment: long, in memory only, and nobody else's credential."""

import pytest

from agentic_rag.adapters.server_token import OPERATOR, ServerToken, opens_servers
from agentic_rag.kernel.errors import Misconfigured, Unauthenticated
from agentic_rag.tenancy.principals import Principal

TOKEN = "t" * 32


class Nobody:
    async def authenticate(self, token: str) -> Principal:
        raise Unauthenticated("unknown")


async def test_it_opens_while_the_server_holds_it_and_nothing_else_does() -> None:
    identity = ServerToken(TOKEN, Nobody())

    assert await identity.authenticate(TOKEN) == OPERATOR
    assert OPERATOR.subject_id == "system:operator"
    for other in (TOKEN + "t", TOKEN[:-1], ""):
        with pytest.raises(Unauthenticated):
            await identity.authenticate(other)


def test_a_short_one_keeps_a_server_from_starting() -> None:
    with pytest.raises(Misconfigured, match="31 characters") as refused:
        opens_servers("t" * 31)

    assert refused.value.code == "TOKEN_TOO_SHORT"


@pytest.mark.parametrize("token", ["", "rag_" + "k" * 43, "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2ln"])
def test_a_client_s_credential_does_not_become_the_operator_s(token: str) -> None:
    assert not opens_servers(token)
