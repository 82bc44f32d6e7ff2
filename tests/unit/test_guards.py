"""The guards of this suite, tried on themselves."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from tests import guards
from tests.guards import FORBID_SKIPS, OutboundAddressRefused, is_loopback, is_product_variable

ROOT = Path(__file__).parents[2]
DOCUMENTATION_ADDRESS = "192.0.2.1"  # RFC 5737: assigned to nobody


@pytest.mark.parametrize(
    ("name", "configures"),
    [
        ("AGENTIC_RAG_ENABLED", True),
        ("HYBRID_VECTOR_WEIGHT", True),
        ("RAG_CORPUS", True),
        ("OPENAI_API_KEY", True),
        ("DATABASE_URL", True),
        ("REDIS_URL", True),
        ("NEO4J_URI", True),
        ("AGENTIC_RAG_TEST_DATABASE_URL", False),
        ("PATH", False),
        ("STORAGE_URL", False),
    ],
)
def test_product_variables_are_told_from_others(name: str, configures: bool) -> None:
    assert is_product_variable(name) is configures


def test_no_product_variable_reaches_a_test() -> None:
    assert [name for name in os.environ if is_product_variable(name)] == []


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("::ffff:127.0.0.1", True),
        ("localhost", True),
        (b"127.0.0.1", True),
        (None, True),
        ("0.0.0.0", False),
        ("::ffff:192.0.2.1", False),
        ("169.254.169.254", False),
        ("localhost.example", False),
    ],
)
def test_loopback_is_told_from_everything_else(host: object, loopback: bool) -> None:
    assert is_loopback(host) is loopback


def test_connecting_outward_is_refused() -> None:
    with socket.socket() as outward, pytest.raises(OutboundAddressRefused):
        outward.connect((DOCUMENTATION_ADDRESS, 80))


def test_sending_a_datagram_outward_is_refused() -> None:
    with socket.socket(type=socket.SOCK_DGRAM) as outward, pytest.raises(OutboundAddressRefused):
        outward.sendto(b"x", (DOCUMENTATION_ADDRESS, 53))


def test_asking_a_name_server_is_refused() -> None:
    with pytest.raises(OutboundAddressRefused):
        socket.getaddrinfo("example.invalid", 80)


def test_loopback_is_allowed() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as inward:
        assert inward.getpeername() == server.getsockname()


@pytest.mark.slow
def test_skipping_a_component_fails_where_that_is_forbidden(tmp_path: Path) -> None:
    write_skipping_tests(tmp_path)

    outcome = run_pytest(tmp_path, forbidden="1")

    assert outcome.returncode == 1
    for place in ("in_test", "in_fixture", "in_module"):
        assert f"and this was skipped: component: {place}" in outcome.stdout
    assert "1 skipped" in outcome.stdout  # for want of Docker, which is not the only way


@pytest.mark.slow
def test_skipping_a_component_is_allowed_elsewhere(tmp_path: Path) -> None:
    write_skipping_tests(tmp_path)

    outcome = run_pytest(tmp_path, forbidden="")

    assert outcome.returncode == 0
    assert "4 skipped" in outcome.stdout


def write_skipping_tests(directory: Path) -> None:
    """One test file per place where a skip can be asked for, and one that lacks only Docker."""
    for place in ("in_test", "in_fixture", "in_module"):
        skip = f"pytest.skip('component: {place}', allow_module_level=True)"
        parts = {name: skip if name == place else "pass" for name in ("in_test", "in_fixture", "in_module")}
        (directory / f"test_{place}.py").write_text(
            "import pytest\n"
            f"{parts['in_module']}\n"
            "@pytest.fixture\n"
            "def server():\n"
            f"    {parts['in_fixture']}\n"
            "def test_it(server):\n"
            f"    {parts['in_test']}\n"
        )
    (directory / "test_docker.py").write_text("import pytest\ndef test_it():\n    pytest.skip('docker: not running')\n")


def run_pytest(directory: Path, *, forbidden: str) -> subprocess.CompletedProcess[str]:
    """Run the files under `directory` with this suite's guards, and without the plugins that they do not need."""
    (directory / "pytest.ini").write_text("[pytest]\n")
    return subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "tests.guards", "-p", "no:cacheprovider"),
            *("--continue-on-collection-errors", directory),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, FORBID_SKIPS: forbidden, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )


def test_the_whole_suite_has_these_guards(pytestconfig: pytest.Config) -> None:
    hooks = pytestconfig.hook.pytest_runtest_makereport.get_hookimpls()
    collected = pytestconfig.hook.pytest_make_collect_report.get_hookimpls()

    assert guards.pytest_runtest_makereport in [hook.function for hook in hooks]
    assert guards.pytest_make_collect_report in [hook.function for hook in collected]
