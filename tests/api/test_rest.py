"""What is asked in vain over plain HTTP, and the end of the application."""

from agentic_rag.kernel.errors import DependencyUnavailable
from agentic_rag_server.app import build_app
from tests.api.builders import Container, client, document_id
from tests.api.stored_original import holding


async def test_an_unknown_path_is_a_coded_404() -> None:
    async with client(Container()) as http:
        response = await http.get("/nothing")

    assert (response.status_code, response.json()["error"]["code"]) == (404, "NOT_FOUND")
    assert "/openapi.json" in response.json()["error"]["message"]


async def test_a_fault_of_the_program_is_a_masked_500() -> None:
    container = holding()
    container.database.failure = RuntimeError("hunter2")
    async with client(container) as http:
        response = await http.get(f"/v1/documents/{document_id(1)}/source")

    assert (response.status_code, response.json()["error"]["code"]) == (500, "INTERNAL")
    assert "hunter2" not in response.text
    assert response.json()["error"]["traceId"] == container.telemetry.events[-1].trace_id


async def test_a_server_that_does_not_answer_is_logged_with_what_it_said_and_never_shown() -> None:
    container = holding()
    container.database.failure = DependencyUnavailable("Postgres does not answer.", dependency="postgres")
    container.database.failure.__cause__ = OSError("db-3.internal refused")
    async with client(container) as http:
        response = await http.get(f"/v1/documents/{document_id(1)}/source")
    logged = container.telemetry.events[-1]

    assert (response.status_code, response.json()["error"]["code"]) == (503, "DEPENDENCY_UNAVAILABLE")
    assert "db-3" not in response.text
    assert logged.fields["reason"] == "db-3.internal refused"
    assert response.json()["error"]["traceId"] == logged.trace_id


async def test_the_container_is_closed_when_the_application_stops() -> None:
    container = Container()
    app = build_app(container)

    async with app.router.lifespan_context(app):
        assert not container.closed

    assert container.closed
    assert container.telemetry.stopped
