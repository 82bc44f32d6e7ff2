"""What `rag doctor` finds out about the `rag up` of its home."""

from __future__ import annotations

from agentic_rag.embedded.loopback import is_free
from agentic_rag.settings import Settings
from agentic_rag_cli.client.access import server_file, server_url, up_runs
from agentic_rag_cli.commands.operations.check import ANSWER_SECONDS, Check, failure, ok


def check_up(settings: Settings, answer_seconds: float = ANSWER_SECONDS) -> Check:
    """`rag up` runs on this home and its server answers, or it was stopped: it takes its file away then."""
    url = server_file(settings.stores.state_home)
    if not up_runs(settings.stores.state_home):
        if not url:
            return ok("up", "`rag up` does not run on this home")
        told = f"the `rag up` with the server {url} was killed, or its machine went down: server and worker are gone"
        return failure("up", "UP_KILLED", told, "Run `rag up` again: nothing that was stored is lost.")
    if not url:
        return ok("up", "`rag up` is starting")
    if is_our_server(url, answer_seconds):
        return ok("up", f"`rag up` runs, and its server answers at {url}")
    told = f"`rag up` runs, and its server does not answer at {url}"
    remedy = (
        "See what `rag up` prints: it starts a server again that ended. Where one stands still, end `rag up` with "
        "Ctrl-C and start it again."
    )
    return failure("up", "SERVER_UNREACHABLE", told, remedy)


def check_port(settings: Settings, answer_seconds: float = ANSWER_SECONDS) -> Check:
    """The server's port is free, or our own server uses it."""
    port, url = settings.server.port, server_url(settings)
    home = settings.stores.state_home
    if up_runs(home) and server_file(home) == url:
        return ok("port", f"{port}: that of `rag up`")
    if port == 0 or is_free(port):
        return ok("port", f"{port} is free")
    if is_our_server(url, answer_seconds):
        return ok("port", f"{port}: an agentic-rag server is running")
    return failure(
        "port",
        "PORT_IN_USE",
        f"{port} is taken by another program",
        "Set AGENTIC_RAG_PORT to a free port.",
    )


def is_our_server(url: str, answer_seconds: float) -> bool:
    """Whether a server of ours answers there."""
    import httpx2

    try:
        response = httpx2.get(f"{url}/healthz", timeout=answer_seconds, trust_env=False)
    except (httpx2.TransportError, httpx2.InvalidURL):
        return False
    return response.is_success and b"ok" in response.content
