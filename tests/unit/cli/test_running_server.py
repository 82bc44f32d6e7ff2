"""`rag ask` finds the server that `rag up` runs on its home."""

import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from threading import Barrier

import httpx2
from tests.unit.cli.product import Terminal
from typer.testing import CliRunner

from agentic_rag.kernel.errors import Misconfigured
from agentic_rag.settings import Settings, load_settings
from agentic_rag_cli.client.access import SERVER_FILE, TOKEN_FILE, ensure_token, running_server
from agentic_rag_cli.main import app
from agentic_rag_cli.processes.local_programs import only_one_on
from agentic_rag_cli.wiring import Wiring


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


def test_rag_ask_asks_it_and_nothing_in_its_own_process(tmp_path: Path) -> None:
    asked: list[str] = []

    def refuse(request: httpx2.Request) -> httpx2.Response:
        asked.append(f"{request.url.scheme}://{request.url.host}:{request.url.port}")
        return httpx2.Response(401)

    environ = {"AGENTIC_RAG_HOME": str(tmp_path), "AGENTIC_RAG_TOKEN": "t"}
    at = Terminal(environ=environ, transport=httpx2.MockTransport(refuse))
    with only_one_on(Settings().change(stores={"home": tmp_path})):
        (tmp_path / SERVER_FILE).write_text("http://127.0.0.1:8099\n")
        shown = at.rag("ask", "Who signs the lease?")

    assert ("[UNAUTHENTICATED]" in shown.stderr, asked) == (True, ["http://127.0.0.1:8099"])


def test_the_status_of_the_schema_is_looked_at_where_an_empty_database_stays_empty(tmp_path: Path) -> None:
    used: list[str] = []

    def servers(kind: str) -> Callable[[Settings], AbstractContextManager[Settings]]:
        @contextmanager
        def open_them(_: Settings) -> Iterator[Settings]:
            used.append(kind)
            raise Misconfigured("Enough is seen.")
            yield

        return open_them

    environ = {"AGENTIC_RAG_HOME": str(tmp_path), "DATABASE_URL": "postgresql://127.0.0.1:1/none"}
    wiring = Wiring(
        settings=lambda: load_settings(environ, dotenv=tmp_path / "none"),
        servers=servers("makes a schema"),
        bare_servers=servers("looks"),
    )

    CliRunner().invoke(app, ["migrate", "status"], obj=wiring)

    assert used == ["looks"]


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
