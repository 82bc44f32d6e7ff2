"""What no test may do: read the developer's settings, talk to the outside, or skip a component unnoticed."""

import ipaddress
import os
import sys
from collections.abc import Generator
from typing import Any

import pytest

FORBID_SKIPS = "AGENTIC_RAG_TEST_FORBID_SKIPS"
MISSING_COMPONENT = "component:"

_TEST_PREFIX = "AGENTIC_RAG_TEST_"
_PRODUCT_PREFIXES = ("AGENTIC_RAG_", "HYBRID_", "RAG_", "OPENAI_", "NEO4J_")
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
_PRODUCT_NAMES = frozenset({"DATABASE_URL", "DATABASE_READ_URL", "REDIS_URL", *_PROXIES, *map(str.lower, _PROXIES)})


class OutboundAddressRefused(RuntimeError):
    """A test tried to reach an address other than loopback.

    No OSError on purpose: code that treats a dead peer as ordinary must not swallow it.
    """


def is_product_variable(name: str) -> bool:
    """Whether an environment variable configures the product, and not its tests."""
    if name.startswith(_TEST_PREFIX):
        return False
    return name in _PRODUCT_NAMES or name.startswith(_PRODUCT_PREFIXES)


def strip_product_variables() -> None:
    """Make the tests independent of the shell they run in."""
    for name in [name for name in os.environ if is_product_variable(name)]:
        del os.environ[name]


def is_loopback(host: object) -> bool:
    """Whether `host`, as given to a socket call, is a loopback address or the name localhost."""
    if isinstance(host, bytes):
        host = host.decode("ascii", "replace")
    if host is None or host == "localhost":
        return True
    try:
        address = ipaddress.ip_address(str(host))
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def is_literal(host: object) -> bool:
    """Whether resolving `host` asks no name server."""
    try:
        ipaddress.ip_address(host.decode("ascii") if isinstance(host, bytes) else str(host))
    except ValueError:
        return is_loopback(host)
    return True


def refuse_outbound(event: str, arguments: tuple[Any, ...]) -> None:
    """Audit hook: raise OutboundAddressRefused for connections and look-ups that leave the machine.

    It sees Python's own sockets; libuv's (uvloop) make no audit events.
    """
    if event in ("socket.connect", "socket.sendto"):
        address = arguments[1]
        if isinstance(address, tuple) and not is_loopback(address[0]):
            raise OutboundAddressRefused(f"tests may reach loopback only, not {address!r}")
    elif event == "socket.getaddrinfo" and not is_literal(arguments[0]):
        raise OutboundAddressRefused(f"tests may not look up {arguments[0]!r}")


def install() -> None:
    """Set up all guards that last for the whole session; an audit hook cannot be taken back."""
    strip_product_variables()
    sys.addaudithook(refuse_outbound)
    # onnxruntime, which the measures also use directly, reports to its maker by itself.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"


def missing_component(report: pytest.TestReport | pytest.CollectReport) -> str | None:
    """The reason, when a report is a skip for want of a component and CI forbids that."""
    if not report.skipped or os.environ.get(FORBID_SKIPS) != "1":
        return None
    reason = str(report.longrepr[2]) if isinstance(report.longrepr, tuple) else str(report.longrepr)
    reason = reason.removeprefix("Skipped: ")
    return reason if reason.startswith(MISSING_COMPONENT) else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Make the skip of a test for want of a component a failure, where that is forbidden."""
    report = yield
    _refuse_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """The same for a skip of a whole module."""
    report = yield
    _refuse_skip(report)
    return report


def _refuse_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    if (reason := missing_component(report)) is not None:
        report.outcome = "failed"
        report.longrepr = f"{FORBID_SKIPS} is set and this was skipped: {reason}"
