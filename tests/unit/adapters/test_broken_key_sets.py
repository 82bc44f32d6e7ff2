"""A key of an issuer's set that cannot be used is passed over; the others go on working."""

from __future__ import annotations

import functools
import json
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

from agentic_rag.adapters.jwt.keys import read_key_set

KINDS = ("RSA", "EC", "OKP")


@functools.cache
def keys() -> dict[str, dict[str, Any]]:
    """A public key of each kind."""
    return {
        "RSA": json.loads(RSAAlgorithm.to_jwk(rsa.generate_private_key(65537, 2048).public_key())),
        "EC": json.loads(ECAlgorithm.to_jwk(ec.generate_private_key(ec.SECP256R1()).public_key())),
        "OKP": json.loads(OKPAlgorithm.to_jwk(ed25519.Ed25519PrivateKey.generate().public_key())),
    }


ODD = (
    None,
    0,
    -1,
    1.5,
    True,
    "",
    "=",
    "AQAB",
    "é",
    "\0",
    "A" * 5000,
    [],
    {},
    ["x"],
    {"a": 1},
    "none",
    "HS256",
    "RS512",
)
MEMBERS = ("kty", "n", "e", "x", "y", "crv", "alg", "use", "kid", "d", "x5c", "key_ops")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("member", MEMBERS)
def test_the_good_key_beside_a_broken_one_is_read(kind: str, member: str) -> None:
    good = {**keys()["RSA"], "kid": "good"}
    broken = [{**keys()[kind], "kid": "broken", member: value} for value in ODD]

    read = [read_key_set(json.dumps({"keys": [one, good]}).encode()) for one in broken]

    assert all("good" in found for found in read)


@pytest.mark.parametrize("algorithm", ["none", "HS256", "RS512", "PS256"])
def test_a_key_for_another_algorithm_is_passed_over(algorithm: str) -> None:
    assert read_key_set(json.dumps({"keys": [{**keys()["RSA"], "kid": "k", "alg": algorithm}]}).encode()) == {}
