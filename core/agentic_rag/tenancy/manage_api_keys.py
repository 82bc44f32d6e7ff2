"""Creates and revokes API keys. The token is shown once, to the caller who creates the key."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from agentic_rag.kernel.clock import Clock
from agentic_rag.kernel.database import Database, Transaction
from agentic_rag.kernel.errors import Forbidden, InvalidInput, NotFound
from agentic_rag.kernel.ids import Ids
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.tenancy.api_keys import SECRET_BYTES, ApiKey, NewApiKey, token_from, token_hash
from agentic_rag.tenancy.audit import AuditAction
from agentic_rag.tenancy.principals import KeyScope, Role, validate_name, validate_subject
from agentic_rag.tenancy.record_audit import audit
from agentic_rag.tenancy.token_claims import MAX_GROUPS


@dataclass(frozen=True, slots=True)
class KeyWish:
    """The key that a caller requests. `subject` is the identity that acts with it; None: the key's own name."""

    name: str
    role: Role
    subject: str | None = None
    groups: tuple[str, ...] = ()
    scopes: frozenset[KeyScope] | None = None
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class MadeKey:
    """A new key with its token, which cannot be read again."""

    key: ApiKey
    token: str


class ManageApiKeys:
    """Each act is recorded in the audit log. The caller of these methods checks which rights the actor may grant."""

    def __init__(self, database: Database, clock: Clock, ids: Ids, telemetry: Telemetry) -> None:
        self._database = database
        self._clock = clock
        self._ids = ids
        self._telemetry = telemetry

    async def create(self, org_id: UUID, wish: KeyWish, actor: str) -> MadeKey:
        """Create a key. Errors: `InvalidInput`, `NotFound` (organisation)."""
        token, new = self._new_key(wish)
        async with self._database.transaction(org_id) as transaction:
            return await self._add(transaction, new, token, actor)

    async def bootstrap(self, org_id: UUID, name: str, expires_at: datetime, actor: str) -> MadeKey:
        """Create the operator's key of an organisation that has none. Errors: `Forbidden` code OPERATOR_EXISTS,
        `InvalidInput`, `NotFound` (organisation).
        """
        token, new = self._new_key(KeyWish(name, Role.OPERATOR, expires_at=expires_at))
        async with self._database.transaction(org_id) as transaction:
            # Its lock on the organisation lets one of two at a time look for an operator.
            await transaction.organisations.change(lambda settings: settings)
            if any(
                key.role is Role.OPERATOR and key.is_valid(self._clock.now())
                for key in await transaction.api_keys.all()
            ):
                raise Forbidden(
                    "This organisation has an operator's key. Make further ones with it: `rag key create NAME --role "
                    "operator`; `rag key list` shows all, `rag key revoke` ends one.",
                    code="OPERATOR_EXISTS",
                )
            return await self._add(transaction, new, token, actor)

    async def all(self, org_id: UUID) -> list[ApiKey]:
        """Every key, newest first."""
        async with self._database.transaction(org_id) as transaction:
            return await transaction.api_keys.all()

    async def revoke(self, org_id: UUID, key_id: UUID, actor: str) -> ApiKey:
        """Revoke a key; a process that caches it drops it within 30 s. Errors: `NotFound` code API_KEY_NOT_FOUND."""
        async with self._database.transaction(org_id) as transaction:
            key = await transaction.api_keys.revoke(key_id)
            if key is None:
                raise NotFound("There is no such API key.", code="API_KEY_NOT_FOUND")
            await self._audit(transaction, AuditAction.REVOKE_API_KEY, key, actor)
        return key

    async def _add(self, transaction: Transaction, new: NewApiKey, token: str, actor: str) -> MadeKey:
        key = await transaction.api_keys.add(self._ids.new(), new)
        await self._audit(transaction, AuditAction.CREATE_API_KEY, key, actor)
        return MadeKey(key, token)

    def _new_key(self, wish: KeyWish) -> tuple[str, NewApiKey]:
        """The token of a new key, and the key. Errors: `InvalidInput`."""
        name = validate_name(wish.name, ("name",))
        token = token_from(secrets.token_bytes(SECRET_BYTES))
        new = NewApiKey(
            key_hash=token_hash(token),
            name=name,
            subject=validate_subject(name if wish.subject is None else wish.subject),
            role=wish.role,
            groups=_groups(wish.groups),
            scopes=_scopes(wish.scopes),
            expires_at=self._expiry(wish.expires_at),
        )
        return token, new

    def _expiry(self, wished: datetime | None) -> datetime | None:
        if wished is not None and (wished.tzinfo is None or wished <= self._clock.now()):
            raise InvalidInput("`expiresAt` must lie ahead, with a time zone.", path=("expiresAt",))
        return wished

    async def _audit(self, transaction: Transaction, action: AuditAction, key: ApiKey, actor: str) -> None:
        told = {"name": key.name, "role": key.role.value}
        await audit(transaction, self._telemetry, action, None, key.key_id, actor, **told)


def _groups(groups: tuple[str, ...]) -> tuple[str, ...]:
    if len(groups) > MAX_GROUPS:
        raise InvalidInput(f"A key has at most {MAX_GROUPS} groups.", path=("groups",))
    return tuple(dict.fromkeys(validate_name(group, ("groups",)) for group in groups))


def _scopes(scopes: frozenset[KeyScope] | None) -> frozenset[KeyScope] | None:
    if scopes is not None and not scopes:
        raise InvalidInput("A key without any scope could do nothing: name some, or leave them out.", path=("scopes",))
    return scopes
