"""Public keys as issuers publish them (RFC 7517), each bound to one algorithm."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import jwt
import orjson
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

MIN_RSA_BITS = 2048
"""RFC 7518, 3.3."""

MAX_KEYS = 100


@dataclass(frozen=True, slots=True)
class VerifyingKey:
    """A key and the one algorithm it verifies; the token cannot choose another."""

    algorithm: str
    key: Any


def read_key_set(body: bytes) -> Mapping[str, VerifyingKey]:
    """The keys of a JWK set by id. Ignores keys without an id, for another use or of another type, notably symmetric
    and private keys. Errors: `ValueError` if the body is no key set.
    """
    document: Any = orjson.loads(body)
    listed = cast(Mapping[str, Any], document).get("keys") if isinstance(document, dict) else None
    if not isinstance(listed, list):
        raise ValueError("a JWK set is an object with the member `keys`")
    found: dict[str, VerifyingKey] = {}
    for entry in cast(list[Any], listed)[:MAX_KEYS]:
        if not isinstance(entry, dict):
            continue
        described = cast(dict[str, Any], entry)
        key_id, key = described.get("kid"), _verifying_key(described)
        if isinstance(key_id, str) and key is not None:
            found[key_id] = key
    return found


def _verifying_key(described: dict[str, Any]) -> VerifyingKey | None:
    if described.get("kty") not in ("RSA", "EC", "OKP") or described.get("use", "sig") != "sig" or "d" in described:
        return None
    stated = described.get("alg")
    if stated is not None and stated not in _ALGORITHM_OF.values():
        return None
    try:
        key: Any = jwt.PyJWK.from_dict({**described, "alg": stated or _ALGORITHM_OF.get(described["kty"])}).key
    except (jwt.PyJWTError, ValueError, TypeError, KeyError):
        return None
    algorithm = _algorithm(key)
    return VerifyingKey(algorithm, key) if algorithm is not None and stated in (None, algorithm) else None


_ALGORITHM_OF = {"RSA": "RS256", "EC": "ES256", "OKP": "EdDSA"}


def _algorithm(key: object) -> str | None:
    if isinstance(key, RSAPublicKey):
        return "RS256" if key.key_size >= MIN_RSA_BITS else None
    if isinstance(key, EllipticCurvePublicKey):
        return "ES256" if isinstance(key.curve, SECP256R1) else None
    return "EdDSA" if isinstance(key, Ed25519PublicKey) else None
