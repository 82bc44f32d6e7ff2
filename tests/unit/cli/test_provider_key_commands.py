"""`rag provider-key` on the terminal."""

from __future__ import annotations

from typer.testing import CliRunner

from agentic_rag.models.providers.provider_keys import parse_master_keys
from agentic_rag_cli.main import app


def test_two_master_keys_made_on_one_day_can_stand_side_by_side() -> None:
    made = [CliRunner().invoke(app, ["provider-key", "master"]).stdout.strip() for _ in range(2)]

    assert len(parse_master_keys(",".join(made))) == 2
