"""`rag ask` finds the server that `rag up` runs on its home."""

import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

from tests.unit.cli.product import Terminal

from agentic_rag.settings import Settings
from agentic_rag_cli.client.access import SERVER_FILE, TOKEN_FILE, ensure_token, running_server
from agentic_rag_cli.processes.local_programs import only_one_on


def test_the_server_of_a_home_is_asked_while_it_runs(tmp_path: Path) -> None:
    settings = Settings().change(stores={"home": tmp_path})
    elsewhere = settings.change(stores={"database_url": "postgresql://127.0.0.1:1/other"})
    assert running_server(settings) == ""

    with only_one_on(settings):
        (tmp_path / SERVER_FILE).write_text("http://127.0.0.1:8080\n")
        found = running_server(settings), running_server(elsewhere)

    assert found == ("http://127.0.0.1:8080", "")
    assert running_server(settings) == ""


def test_a_second_one_on_the_home_says_so_before_it_starts_anything_or_looks_at_its_port(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        second = Terminal(environ={"AGENTIC_RAG_HOME": str(tmp_path), "AGENTIC_RAG_PORT": port})
        with only_one_on(Settings().change(stores={"home": tmp_path})):
            shown = second.rag("up")

    assert shown.exit_code == 4
    assert shown.stderr.startswith("error [ALREADY_UP]: ")


def test_what_a_killed_server_left_is_not_asked(tmp_path: Path) -> None:
    (tmp_path / SERVER_FILE).write_text("http://127.0.0.1:8080\n")

    assert running_server(Settings().change(stores={"home": tmp_path})) == ""


def test_servers_that_start_at_once_on_a_home_have_one_token(tmp_path: Path) -> None:
    settings, together = Settings().change(stores={"home": tmp_path}), Barrier(8)

    def start(_: int) -> str:
        together.wait()
        return ensure_token(settings)

    with ThreadPoolExecutor(8) as threads:
        tokens = set(threads.map(start, range(8)))

    assert len(tokens) == 1
    assert [path.name for path in tmp_path.iterdir()] == [TOKEN_FILE]
