"""`rag` as a user starts it: real processes, real exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.rag_terminal import RagTerminal
from typer.testing import CliRunner

from agentic_rag import __version__
from agentic_rag_cli.main import app

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("core", "server", "worker", "cli", "eval", "migrations")
HEAVY = ("asyncpg", "numpy", "strawberry", "httpx2", "alembic", "redis", "starlette", "agentic_rag.bootstrap")


def rag(*arguments: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "agentic_rag_cli", *arguments]
    environ = environment(cwd, **variables)
    return subprocess.run(command, cwd=cwd, env=environ, capture_output=True, text=True, timeout=60)


def environment(cwd: Path, **variables: str) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(cwd),
        "PYTHONPATH": os.pathsep.join(str(ROOT / package) for package in PACKAGES),
        **variables,
    }


def test_help_lists_every_command_and_loads_nothing_heavy(tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "from agentic_rag_cli.main import app\n"
        "app(['--help'], standalone_mode=False)\n"
        f"print('LOADED', [name for name in {HEAVY!r} if name in sys.modules])\n"
    )
    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(str(ROOT / name) for name in PACKAGES)}

    shown = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, env=environ, capture_output=True, text=True)

    assert shown.stdout.endswith("LOADED []\n"), shown.stdout + shown.stderr
    for command in ("up", "ingest", "ask", "doc", "run", "job", "workspace", "eval", "doctor", "config", "demo"):
        assert f"\n  {command} " in shown.stdout


def test_a_command_imports_no_other(tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "from agentic_rag_cli.main import app\n"
        "app(['ask', '--help'], standalone_mode=False)\n"
        "print('LOADED', *(name for name in sys.modules if name.startswith('agentic_rag_cli.commands.')))\n"
    )

    shown = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True
    )

    loaded = shown.stdout.rpartition("LOADED ")[2].split()
    assert set(loaded) == {"agentic_rag_cli.commands.answering", "agentic_rag_cli.commands.answering.ask"}, shown.stderr


def test_whoever_looks_where_a_database_stands_loads_no_alembic(tmp_path: Path) -> None:
    script = "import sys, agentic_rag_migrations.upgrade; print('alembic' in sys.modules, 'sqlalchemy' in sys.modules)"

    shown = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True
    )

    assert shown.stdout == "False False\n", shown.stderr


@pytest.mark.parametrize(
    "command", [["ingest"], ["ask"], ["up"], ["demo"], ["eval"], ["doctor"], ["doc", "list"], ["migrate", "up"]]
)
def test_every_command_explains_itself_with_an_example(command: list[str]) -> None:
    shown = CliRunner().invoke(app, [*command, "--help"])

    assert shown.exit_code == 0
    assert "Example: " in shown.stdout
    assert f"rag {' '.join(command)}" in shown.stdout


def test_version(tmp_path: Path) -> None:
    assert rag("--version", cwd=tmp_path).stdout == f"agentic-rag {__version__}\n"


def test_config_show_reads_the_environment_over_the_dotenv_file(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("AGENTIC_RAG_TOPK=3\nAGENTIC_RAG_PORT=9999\n")

    shown = json.loads(rag("config", "show", "--json", cwd=tmp_path, AGENTIC_RAG_TOPK="5").stdout)

    assert (shown["AGENTIC_RAG_TOPK"], shown["AGENTIC_RAG_PORT"]) == ("5", "9999")


def test_an_unknown_setting_stops_every_command_with_2_and_no_traceback(tmp_path: Path) -> None:
    shown = rag("doc", "list", cwd=tmp_path, AGENTIC_RAG_TOPKK="5")

    assert shown.returncode == 2
    assert shown.stderr.startswith("error [SETTINGS_INVALID]: ")
    assert "Traceback" not in shown.stderr


def test_a_variable_near_one_of_ours_is_named_by_any_command_and_once(tmp_path: Path) -> None:
    for command in (("config", "show", "--json"), ("ingest", "nowhere")):
        told = rag(*command, cwd=tmp_path, RAG_EMBEDER="onnx").stderr

        assert told.count("warning: RAG_EMBEDER is no setting and is ignored; did you mean RAG_EMBEDDER?\n") == 1


def test_an_unknown_option_is_a_usage_error(tmp_path: Path) -> None:
    assert rag("ask", "--nonsense", cwd=tmp_path).returncode == 2


def test_doctor_without_servers_says_so_and_ends_with_4(tmp_path: Path) -> None:
    shown = rag(
        *("doctor", "--json"),
        cwd=tmp_path,
        AGENTIC_RAG_HOME=str(tmp_path),
        DATABASE_URL="postgresql://127.0.0.1:1/none",
        REDIS_URL="redis://127.0.0.1:1/0",
    )

    assert shown.returncode == 4, shown.stderr
    assert {check["name"] for check in json.loads(shown.stdout) if check["status"] == "failed"} >= {"postgres", "redis"}


def test_an_unreachable_database_is_one_line_and_4(tmp_path: Path) -> None:
    shown = rag(
        *("migrate", "status"),
        cwd=tmp_path,
        DATABASE_URL="postgresql://127.0.0.1:1/none",
        REDIS_URL="redis://127.0.0.1:1/0",
    )

    assert shown.returncode == 4
    assert shown.stderr.startswith("error [DEPENDENCY_UNAVAILABLE]: Postgres does not answer")
    assert "Traceback" not in shown.stderr


def test_the_status_of_a_home_that_is_not_there_makes_none(tmp_path: Path) -> None:
    home = tmp_path / "home"

    shown = rag("migrate", "status", "--json", cwd=tmp_path, AGENTIC_RAG_HOME=str(home))

    told = json.loads(shown.stdout)
    assert (shown.returncode, told["current"], told["pending"][-1]) == (1, None, told["head"]), shown.stderr
    assert not home.exists()


@pytest.mark.integration
def test_migrate_up_then_status_on_a_real_database(tmp_path: Path, postgres_url: str, fresh_database: str) -> None:
    servers = {"DATABASE_URL": fresh_database, "REDIS_URL": "redis://127.0.0.1:1/0"}

    with RagTerminal(tmp_path, environment(tmp_path, **servers)) as terminal:
        before = terminal.run("migrate", "status", "--json")
        up = terminal.run("migrate", "up", "--json")
        after = terminal.run("migrate", "status", "--json")

    assert (before.returncode, up.returncode, after.returncode) == (1, 0, 0), up.stderr
    assert json.loads(up.stdout)["applied"] == json.loads(before.stdout)["pending"]
    assert json.loads(after.stdout)["pending"] == []
