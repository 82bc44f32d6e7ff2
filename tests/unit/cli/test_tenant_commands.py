"""`rag tenant`, `rag key` and `rag token`: organisations, their keys, and tokens to try them with."""

import json
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import jwt
import pytest
from tests.unit.cli.product import Product, Terminal

from agentic_rag.operations.leak_canaries import CanaryReport, Leak
from agentic_rag.workspaces.organisation import Organisation
from agentic_rag_cli.client.ids import choose_organisation

NOW = datetime(2026, 11, 21, tzinfo=UTC)
ACME = Organisation(UUID(int=7), "acme", "org_2x9", NOW)


def acme() -> Product:
    return Product(organisation=ACME)


@pytest.mark.parametrize("text", ["id-a", "ext-a", "acme"])
def test_an_organisation_that_is_named_as_another_is_called_is_not_taken_for_it(text: str) -> None:
    impostors = {f"id-{nth}": (None, name) for nth, name in enumerate(["id-a", "ext-a"])}

    assert choose_organisation({**impostors, "id-a": ("ext-a", "acme")}, text) == "id-a"


def test_a_feature_is_switched_and_shown() -> None:
    terminal = Terminal(acme())

    switched = terminal.rag("tenant", "set", "acme", "--feature", "ragGuidelines=on")
    listed = json.loads(terminal.rag("tenant", "list", "--json").stdout)[-1]

    assert "ragGuidelines on" in switched.stdout
    assert (listed["name"], listed["features"]) == (
        "acme",
        {"ragGuidelines": True, "membersOpenWorkspaces": False, "webAccess": False},
    )


def test_a_tenant_of_a_platform_that_pays_for_embeddings_is_told_to_bring_its_key() -> None:
    terminal = Terminal(Product(organisation=ACME, costs_money=True))

    made = terminal.rag("tenant", "create", "beta")
    lent = json.loads(terminal.rag("tenant", "create", "beta", "--platform-models", "--json").stdout)
    shown = json.loads(terminal.rag("tenant", "show", "acme", "--json").stdout)

    assert "rag provider-key set PROVIDER --tenant" in made.stdout
    assert (lent["mustBringKey"], shown["mustBringKey"]) == (False, True)


def test_a_tenant_begins_its_audit_log_with_who_made_it() -> None:
    terminal = Terminal(acme())

    terminal.rag("--tenant", "acme", "tenant", "create", "beta")
    [entry] = json.loads(terminal.rag("audit", "list", "--tenant", "beta", "--json").stdout)

    assert (entry["action"], entry["actor"]) == ("organisation.create", "system:cli")


@pytest.mark.parametrize("feature", ["ragGuidelines", "ragGuidelines=yes", "nothing=on"])
def test_a_feature_that_cannot_be_switched_is_a_usage_error(feature: str) -> None:
    assert Terminal(acme()).rag("tenant", "set", "acme", "--feature", feature).exit_code == 2


def test_limits_are_shown_set_one_by_one_and_given_back_to_the_settings() -> None:
    terminal = Terminal(acme())

    terminal.rag("tenant", "limits", "acme", "--asks", "120")
    both = json.loads(terminal.rag("tenant", "limits", "acme", "--writes", "0", "--json").stdout)
    back = json.loads(terminal.rag("tenant", "limits", "acme", "--asks", "default", "--json").stdout)
    shown = terminal.rag("tenant", "limits", "acme").stdout

    assert both["asks"] == {"perMinute": 120, "own": True}
    assert both["writes"] == {"perMinute": 0, "own": True}
    assert back["asks"] == {"perMinute": 60, "own": False}
    assert "no limit" in shown


@pytest.mark.parametrize("given", ["-1", "many"])
def test_a_limit_that_is_none_is_a_usage_error(given: str) -> None:
    assert Terminal(acme()).rag("tenant", "limits", "acme", "--reads", given).exit_code == 2


def test_walls_that_hold_end_the_self_attack_with_zero() -> None:
    shown = Terminal(acme()).rag("tenant", "canaries")

    assert (shown.exit_code, shown.stdout) == (0, "2 organisations, 6 checks, 0 leaks, 0 failed\n")


@pytest.mark.parametrize(
    "report",
    [
        CanaryReport(2, 6, (Leak(UUID(int=7), UUID(int=8), "answer"),), (), 0),
        CanaryReport(2, 6, (), (UUID(int=7),), 0),
        CanaryReport(2, 5, (), (), 1),
    ],
    ids=["a leak", "a canary that is not found", "an attack that failed"],
)
def test_a_self_attack_that_does_not_prove_the_walls_ends_with_five(report: CanaryReport) -> None:
    shown = Terminal(Product(report=report)).rag("tenant", "canaries", "--json")

    said = json.loads(shown.stdout)
    assert shown.exit_code == 5
    assert (len(said["leaks"]), len(said["blind"]), said["failed"]) == (
        len(report.leaks),
        len(report.blind),
        report.failed,
    )


def test_a_key_prints_its_token_alone_on_standard_output() -> None:
    at = Terminal(acme())

    shown = at.rag("key", "create", "ci", "--tenant", "acme", "--scope", "upload", "--scope", "read", "--days", "90")
    [key] = json.loads(at.rag("key", "list", "--tenant", "acme", "--json").stdout)

    assert shown.stdout.count("\n") == 1
    assert (key["name"], key["role"], key["scopes"]) == ("ci", "member", ["read", "upload"])
    assert key["expiresAt"] is not None
    assert json.loads(at.rag("key", "list", "--json").stdout) == []


def test_a_key_is_revoked_by_the_id_that_the_list_shows() -> None:
    at = Terminal(acme())
    made = json.loads(at.rag("key", "create", "ci", "--tenant", "acme", "--json").stdout)

    revoked = json.loads(at.rag("key", "revoke", made["id"], "--tenant", "acme", "--json").stdout)

    assert (revoked["id"], revoked["revokedAt"] is None) == (str(UUID(made["id"])), False)
    assert "revoked" in at.rag("key", "list", "--tenant", "acme").stdout


def test_a_development_token_is_signed_with_the_secret_of_the_home(tmp_path: Path) -> None:
    terminal = Terminal(acme(), {"AGENTIC_RAG_HOME": str(tmp_path)})
    shown = terminal.rag("token", "dev", "--tenant", "acme", "--role", "admin", "--group", "engineering")

    secret = tmp_path / "jwt-secret"
    said = jwt.decode(shown.stdout.strip(), secret.read_text().strip(), ["HS256"], audience="agentic-rag")
    assert secret.stat().st_mode & 0o077 == 0
    assert (said["org_id"], said["role"], said["groups"]) == (str(ACME.org_id), "admin", ["engineering"])


@pytest.mark.parametrize(
    "environ",
    [
        {"AGENTIC_RAG_HOST": "0.0.0.0"},
        {"AGENTIC_RAG_PROFILE": "production"},
        {
            "AGENTIC_RAG_JWKS_URL": "https://issuer.test/keys",
            "AGENTIC_RAG_JWT_ISSUER": "https://issuer.test",
            "AGENTIC_RAG_JWT_AUDIENCE": "us",
        },
    ],
    ids=["a server that others can reach", "production", "an issuer"],
)
def test_there_is_no_development_token_where_it_would_be_a_way_in(tmp_path: Path, environ: dict[str, str]) -> None:
    shown = Terminal(acme(), environ | {"AGENTIC_RAG_HOME": str(tmp_path)}).rag("token", "dev")

    assert shown.exit_code == 4
    assert not (tmp_path / "jwt-secret").exists()
