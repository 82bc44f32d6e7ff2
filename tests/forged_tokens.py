"""Tokens that no server may take, each forged in another way by somebody who lacks the issuer's key, or who holds a
token that was issued for something else.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import jwt
from cryptography.hazmat.primitives import serialization

from tests.token_issuer import SigningKey, claims, ec_key, ed_key, encoded, rsa_key, signed


@dataclass(frozen=True)
class Forgery:
    """How a token was forged, and the token."""

    name: str
    token: str


def forged_tokens(organisation: UUID, foreign: UUID, outside: str) -> list[Forgery]:
    """Forgeries against an issuer that publishes `rsa_key()`, `ec_key()` and `ed_key()`. `outside` is an address that
    nobody may ever ask.
    """
    good, thief = rsa_key(), rsa_key("thief")
    genuine = signed(claims(organisation), good)
    header, payload, signature = genuine.split(".")
    return [
        Forgery(name, token)
        for name, token in (
            *_without_a_key(header, payload, signature, claims(organisation)),
            *_with_another_key(claims(organisation), good, thief, outside),
            *_not_for_us(organisation, foreign, good),
            *_malformed(organisation, good),
        )
    ]


def _without_a_key(header: str, payload: str, signature: str, said: Mapping[str, Any]) -> list[tuple[str, str]]:
    kid = rsa_key().key_id
    raised = encoded({**said, "role": "operator"})
    flipped = ("A" if signature[0] != "A" else "B") + signature[1:]
    pem = (
        rsa_key()
        .private.public_key()
        .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    )
    described = json.dumps(rsa_key().public).encode()
    return [
        ("alg none", f"{encoded({'alg': 'none', 'typ': 'JWT', 'kid': kid})}.{payload}."),
        ("alg None in another case", f"{encoded({'alg': 'nOnE', 'typ': 'JWT', 'kid': kid})}.{payload}."),
        ("alg none with a signature", f"{encoded({'alg': 'none', 'kid': kid})}.{payload}.{signature}"),
        ("no signature", f"{header}.{payload}."),
        ("signature of zeros", f"{header}.{payload}.{encoded(bytes(256))}"),
        ("tampered signature", f"{header}.{payload}.{flipped}"),
        ("tampered claims", f"{header}.{raised}.{signature}"),
        ("tampered header", f"{encoded({'alg': 'RS256', 'kid': kid, 'cty': 'x'})}.{payload}.{signature}"),
        ("HS256 with the public key in PEM", _hmac(said, kid, pem)),
        ("HS256 with the published key as text", _hmac(said, kid, described)),
        ("HS256 with an empty key", _hmac(said, kid, b"")),
        ("no alg", f"{encoded({'typ': 'JWT', 'kid': kid})}.{payload}.{signature}"),
    ]


def _hmac(said: Mapping[str, Any], kid: str, secret: bytes) -> str:
    """HS256 by hand: the library refuses to sign with such a key."""
    import hashlib
    import hmac

    signing = f"{encoded({'alg': 'HS256', 'typ': 'JWT', 'kid': kid})}.{encoded(said)}"
    return f"{signing}.{encoded(hmac.digest(secret, signing.encode(), hashlib.sha256))}"


def _with_another_key(
    said: Mapping[str, Any], good: SigningKey, thief: SigningKey, outside: str
) -> list[tuple[str, str]]:
    stolen = thief.private
    chain = [encoded(b"certificate")]
    return [
        ("another key under the issuer's kid", signed(said, good, with_key=stolen)),
        ("a kid that nobody published", signed(said, thief)),
        ("no kid", jwt.encode(dict(said), good.private, "RS256")),
        ("a kid that is a path", signed(said, thief, {"kid": "../../../../dev/null"})),
        ("a kid that is a statement", signed(said, thief, {"kid": "' OR 1=1 --"})),
        ("the kid of a key of another kind", signed(said, ec_key(), {"kid": good.key_id})),
        ("an elliptic signature under RS256", _relabelled(said)),
        ("PS256 with the issuer's own key", signed(said, good, algorithm="PS256")),
        ("RS512 with the issuer's own key", signed(said, good, algorithm="RS512")),
        ("an embedded jwk", signed(said, good, {"jwk": dict(thief.public)}, with_key=stolen)),
        ("a jku that points outside", signed(said, thief, {"jku": f"{outside}/jku"})),
        ("a jku under the issuer's kid", signed(said, good, {"jku": f"{outside}/jku"}, with_key=stolen)),
        ("an x5u that points outside", signed(said, good, {"x5u": f"{outside}/x5u"}, with_key=stolen)),
        ("an x5c of one's own", signed(said, good, {"x5c": chain}, with_key=stolen)),
    ]


def _relabelled(said: Mapping[str, Any]) -> str:
    """An Ed25519 signature whose header says RS256."""
    signing = f"{encoded({'alg': 'RS256', 'kid': ed_key().key_id})}.{encoded(said)}"
    return f"{signing}.{encoded(ed_key().private.sign(signing.encode()))}"


def _not_for_us(organisation: UUID, foreign: UUID, good: SigningKey) -> list[tuple[str, str]]:
    """Genuine signatures on what was not meant for this server, or says too little."""
    now = int(time.time())

    def saying(**changes: Any) -> str:
        return signed(claims(organisation, **changes), good)

    return [
        ("expired", saying(exp=now - 120)),
        ("not valid yet", saying(nbf=now + 120)),
        ("issued in the future", saying(iat=now + 120)),
        ("without an expiry", saying(exp=None)),
        ("an expiry that is no number", saying(exp="tomorrow")),
        ("an endless expiry", saying(exp=float("inf"))),
        ("for another audience", saying(aud="another-service")),
        ("for no audience", saying(aud=None)),
        ("from another issuer", saying(iss="https://issuer.test.evil.example")),
        ("from no issuer", saying(iss=None)),
        ("without an organisation", saying(org_id=None)),
        ("the organisation in another claim only", saying(org_id=None, organisation=str(foreign), tenant=str(foreign))),
        ("two organisations", saying(org_id=[str(organisation), str(foreign)])),
        ("an organisation that does not exist", saying(org_id=str(UUID(int=organisation.int ^ 1)))),
        ("an organisation by a pattern", saying(org_id="%")),
        ("without a subject", saying(sub=None)),
        ("a subject that is no text", saying(sub=7)),
        ("a subject with a NUL", saying(sub="ada\0")),
        ("a role that does not exist", saying(role="root")),
        ("groups that are no list", saying(groups={"engineering": True})),
    ]


def _malformed(organisation: UUID, good: SigningKey) -> list[tuple[str, str]]:
    said = claims(organisation)
    genuine = signed(said, good)
    header, payload, signature = genuine.split(".")
    deep = encoded(b"[" * 3000)
    return [
        ("a critical extension", signed(said, good, {"crit": ["exp"]})),
        ("an unencoded payload", signed(said, good, {"b64": False, "crit": ["b64"]})),
        ("a token of another type", signed(said, good, {"typ": "logout+jwt"})),
        ("oversized", signed({**said, "padding": "x" * 9000}, good)),
        ("a header that is nested deeply", f"{deep}.{payload}.{signature}"),
        ("a header that is no object", f"{encoded(b'[1]')}.{payload}.{signature}"),
        ("claims that are no object", jwt.api_jws.encode(b"[1]", good.private, "RS256", {"kid": good.key_id})),
        ("five segments", f"{header}.{payload}.{signature}.{payload}.{signature}"),
        ("nothing but dots", ".."),
        ("not ASCII", f"{header}.{payload}.ü"),
        ("a genuine token and a second one", f"{genuine},{genuine}"),
        ("a genuine token's claims unsigned twice", f"{header}.{payload}{payload}.{signature}"),
    ]
