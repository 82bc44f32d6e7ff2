"""What the commands about organisations ask of the system in process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol
from uuid import UUID

from agentic_rag.kernel.errors import NotFound
from agentic_rag.tenancy.principals import DEFAULT_ORG_ID, validate_name
from agentic_rag.workspaces.organisation import FeatureFlag, Organisation
from agentic_rag.workspaces.rate_limits import RateLimits, Traffic
from agentic_rag_cli.in_process import OPERATOR

if TYPE_CHECKING:
    from agentic_rag.bootstrap import Container
    from agentic_rag.operations.leak_canaries import CanaryReport
    from agentic_rag.tenancy.api_keys import ApiKey
    from agentic_rag.tenancy.manage_api_keys import KeyWish, MadeKey


class Tenants(Protocol):
    """Organisations and their API keys. Errors: those of the use cases."""

    async def all(self) -> list[Organisation]:
        """Every organisation, by name."""
        ...

    async def named(self, text: str | None) -> Organisation:
        """The one of that id, name or external id; without a text the session's. Errors: `NotFound`."""
        ...

    async def create(self, name: str, external_ref: str | None) -> Organisation:
        """Make one. Errors: `InvalidInput` code ORGANISATION_EXISTS."""
        ...

    async def set_feature(self, org_id: UUID, flag: FeatureFlag, *, on: bool) -> Organisation:
        """Switch a feature."""
        ...

    async def limits(self, org_id: UUID) -> RateLimits:
        """The requests a minute that hold for it."""
        ...

    async def set_limits(self, org_id: UUID, limits: RateLimits) -> Organisation:
        """Give it limits of its own."""
        ...

    async def create_key(self, org_id: UUID, wish: KeyWish) -> MadeKey:
        """Make an API key."""
        ...

    async def keys(self, org_id: UUID) -> list[ApiKey]:
        """Its API keys, newest first."""
        ...

    async def revoke_key(self, org_id: UUID, key_id: UUID) -> ApiKey:
        """Make a key worthless. Errors: `NotFound`."""
        ...

    async def attack(self) -> CanaryReport:
        """One round of the leak canaries."""
        ...


class ContainerTenants:
    """`Tenants` over the wired container."""

    def __init__(self, container: Container, org_id: UUID = DEFAULT_ORG_ID) -> None:
        self._container = container
        self._org_id = org_id

    async def all(self) -> list[Organisation]:
        """Every organisation, by name."""
        return await self._container.organisations.all()

    async def named(self, text: str | None) -> Organisation:
        """The one of that id, name or external id. Errors: `NotFound`."""
        if text is None:
            return await self._container.administer.organisation(self._org_id)
        for one in await self.all():
            if text in (str(one.org_id), one.name, one.external_ref):
                return one
        raise NotFound(f"There is no organisation {text!r}; `rag tenant list` shows them.")

    async def create(self, name: str, external_ref: str | None) -> Organisation:
        """Make one. Errors: `InvalidInput` code ORGANISATION_EXISTS."""
        reference = None if external_ref is None else validate_name(external_ref, ("externalRef",))
        return await self._container.organisations.create(
            self._container.ids.new(), validate_name(name, ("name",)), reference
        )

    async def set_feature(self, org_id: UUID, flag: FeatureFlag, *, on: bool) -> Organisation:
        """Switch a feature."""
        return await self._container.administer.set_feature(org_id, flag, on=on, actor=OPERATOR.subject)

    async def limits(self, org_id: UUID) -> RateLimits:
        """The requests a minute that hold for it."""
        return await self._container.admission.in_force(org_id)

    async def set_limits(self, org_id: UUID, limits: RateLimits) -> Organisation:
        """Give it limits of its own."""
        return await self._container.admission.set_limits(org_id, limits, OPERATOR.subject)

    async def create_key(self, org_id: UUID, wish: KeyWish) -> MadeKey:
        """Make an API key."""
        return await self._container.api_keys.create(org_id, wish, OPERATOR.subject)

    async def keys(self, org_id: UUID) -> list[ApiKey]:
        """Its API keys, newest first."""
        return await self._container.api_keys.all(org_id)

    async def revoke_key(self, org_id: UUID, key_id: UUID) -> ApiKey:
        """Make a key worthless. Errors: `NotFound`."""
        return await self._container.api_keys.revoke(org_id, key_id, OPERATOR.subject)

    async def attack(self) -> CanaryReport:
        """One round of the leak canaries."""
        return await self._container.leak_canaries.run()


def organisation_json(organisation: Organisation) -> dict[str, object]:
    """An organisation; field names as in the GraphQL API."""
    return {
        "id": str(organisation.org_id),
        "name": organisation.name,
        "externalRef": organisation.external_ref,
        "createdAt": organisation.created_at.isoformat(),
        "features": {flag.value: organisation.settings.is_on(flag) for flag in FeatureFlag},
    }


def limits_json(own: RateLimits, in_force: RateLimits) -> dict[str, object]:
    """Requests a minute, 0 for no limit, and which of them are the organisation's own."""
    return {f"{one.value}s": {"perMinute": in_force.of(one) or 0, "own": own.of(one) is not None} for one in Traffic}


def canaries_json(report: CanaryReport) -> dict[str, object]:
    """One round of the leak canaries."""
    return {
        "organisations": report.organisations,
        "checks": report.checks,
        "leaks": [
            {"asking": str(leak.asking), "owner": leak.owner and str(leak.owner), "place": leak.place}
            for leak in report.leaks
        ],
        "blind": [str(org_id) for org_id in report.blind],
        "failed": report.failed,
    }


def key_json(key: ApiKey) -> dict[str, object]:
    """An API key; never its token."""
    return {
        "id": str(key.key_id),
        "name": key.name,
        "subject": key.subject,
        "role": key.role.value,
        "groups": list(key.groups),
        "scopes": None if key.scopes is None else sorted(scope.value for scope in key.scopes),
        "createdAt": key.created_at.isoformat(),
        "expiresAt": key.expires_at and key.expires_at.isoformat(),
        "revokedAt": key.revoked_at and key.revoked_at.isoformat(),
        "lastUsedAt": key.last_used_at and key.last_used_at.isoformat(),
    }
