"""Every statement names its tenant: a query of the graph its workspace, a query of a table its organisation."""

import re

import pytest
from tests.unit.adapters.walls import statements, texts_within_functions, unbound_paths, unjoined, untenanted

from agentic_rag.adapters import neo4j, postgres
from agentic_rag_migrations.catalogue import TABLES, TableClass

CYPHER = re.compile(r"\b(?:MATCH|MERGE|CREATE|DETACH DELETE)\b")
OF_TENANTS = frozenset(table for table, kind in TABLES.items() if kind is not TableClass.GLOBAL)

OVER_ALL_TENANTS = {
    "job_sql.WAITING": "The dispatcher takes the next job of any tenant; its login sees only `rag_jobs`.",
    "job_sql.EXPIRE_LEASES": "The dispatcher takes back the leases of lost workers, whoever's.",
    "job_sql.COUNTS": "The gauge of jobs by state and kind, for operators; it returns counts only.",
    "job_sql.OLDEST_WAITS": "The gauge of how long jobs wait, for operators; it returns seconds by kind only.",
    "backup.ORIGINALS": "A backup is of all tenants; its login is one of operators alone.",
    "backup.REVOKED": "A restore revokes again what any tenant revoked after the backup; the login of operators alone.",
    "backup.CONVERSATIONS": "A restore deletes again the threads and runs that any tenant deleted; as above.",
    "listed_rights.DOCUMENTS": "A restore narrows the rights of any tenant's documents; as above.",
    "listed_rights.SAVED": "A restore removes the saved questions of any tenant that were removed; as above.",
    "organisation_register.TAKEN": "An operator makes an organisation: its name must be nobody's yet.",
    "organisation_register.ALL": "An operator lists the organisations.",
}
"""Statements that are not of one tenant, each with why; they run under logins of their own."""


def test_every_pattern_of_the_graph_is_held_to_its_workspace() -> None:
    queries = {name: text for name, text in statements(neo4j).items() if CYPHER.search(text) and "FOR (n:" not in text}

    # Parts in capitals with an underscore are proven inside the statements that they are parts of.
    whole = {name: text for name, text in queries.items() if not name.split(".")[1].startswith("_")}
    assert len(whole) > 20
    assert {name: paths for name, text in whole.items() if (paths := unbound_paths(text))} == {}


def test_no_cypher_is_written_where_it_is_used() -> None:
    assert texts_within_functions(neo4j, CYPHER.search) == []


@pytest.mark.parametrize(
    "planted",
    [
        "MATCH (n) RETURN n",
        "MATCH (entity:RagEntity {id: $id}) RETURN entity",
        "MATCH (s:RagSource {workspaceId: $workspaceId}) MATCH (chunk:RagChunk)-[:MENTIONS]->(e:RagEntity) RETURN e",
        "MATCH (n:RagChunk) WHERE n.id = $id RETURN n",
        "MATCH (n:RagChunk) WHERE n.workspaceId = $workspaceId RETURN n UNION MATCH (n:RagSource) RETURN n",
        "MERGE (source:RagSource {id: $id}) SET source.workspaceId = $workspaceId",
        "MATCH (s:RagSource {workspaceId: $workspaceId}) CREATE (c:RagChunk {id: $id})-[:DERIVED_FROM]->(s)",
        "MATCH (n:RagChunk {workspaceId: $other}) RETURN n",
        "RETURN COUNT { MATCH (n:RagEntity) } AS all",
        "MATCH (s:RagSource {workspaceId: $workspaceId}) RETURN [(c:RagChunk)-[:MENTIONS]->(e:RagEntity) | c.id]",
    ],
)
def test_a_graph_query_that_reaches_beyond_its_workspace_is_found(planted: str) -> None:
    assert unbound_paths(planted) != []


@pytest.mark.parametrize(
    "sound",
    [
        "MATCH (n:RagChunk {workspaceId: $workspaceId})-[m:MENTIONS]->(e:RagEntity) MATCH (e)--(o:RagEntity) RETURN o",
        "MATCH (n:RagEntity) WHERE n.workspaceId = $workspaceId AND n.id IS NOT NULL RETURN count(n)",
        "MERGE (state:RagWorkspace {id: $workspaceId}) SET state.fence = 0",
    ],
)
def test_a_graph_query_within_its_workspace_passes(sound: str) -> None:
    assert unbound_paths(sound) == []


def test_every_query_of_a_tenant_s_table_is_held_to_an_organisation() -> None:
    queries = {name: text for name, text in statements(postgres).items() if "rag_" in text}
    reaching = {name for name, text in queries.items() if untenanted(text, OF_TENANTS)}

    assert len(queries) > 150
    assert reaching == set(OVER_ALL_TENANTS)


@pytest.mark.slow
def test_no_table_of_a_tenant_is_queried_by_a_text_written_where_it_is_used() -> None:
    tables = re.compile(r"\b(?:FROM|JOIN|UPDATE|INTO)\s+rag_")

    assert texts_within_functions(postgres, tables.search) == []


@pytest.mark.parametrize(
    "planted",
    [
        "SELECT org_id, title FROM rag_documents WHERE document_id = $1",
        "SELECT title FROM rag_documents WHERE org_id = $1 AND EXISTS (SELECT FROM rag_jobs WHERE job_id = $2)",
        "WITH gone AS (DELETE FROM rag_chunks WHERE ordinal = $2) SELECT FROM rag_documents WHERE org_id = $1",
        "INSERT INTO rag_usage (calls, org_id) SELECT 1, $1",
        "UPDATE rag_organizations SET name = $1",
    ],
)
def test_a_query_that_reaches_beyond_its_tenant_is_found(planted: str) -> None:
    assert untenanted(planted, OF_TENANTS) != []


def test_every_table_of_a_query_is_held_to_the_organisation_by_itself() -> None:
    queries = {name: text for name, text in statements(postgres).items() if "rag_" in text}
    reaching = {name for name, text in queries.items() if unjoined(text, OF_TENANTS)}

    assert reaching <= set(OVER_ALL_TENANTS)
    assert "job_sql.WAITING" in reaching


@pytest.mark.parametrize(
    "planted",
    [
        "SELECT FROM rag_chunks c JOIN rag_documents d ON d.document_id = c.document_id WHERE c.org_id = $1",
        "SELECT FROM rag_chunks c, rag_documents d WHERE c.org_id = $1 AND d.document_id = c.document_id",
        "SELECT FROM rag_chunks JOIN rag_documents USING (document_id) WHERE org_id = $1",
        "SELECT FROM rag_chunks WHERE org_id = $1 UNION SELECT FROM rag_documents",
        "DELETE FROM rag_runs WHERE ctid = ANY (ARRAY (SELECT ctid FROM rag_runs WHERE org_id = $1))",
        "SELECT FROM rag_chunks c WHERE c.org_id = $1 AND EXISTS (SELECT FROM rag_documents d WHERE d.title = c.text)",
        "UPDATE rag_runs r SET cost = 0 FROM rag_jobs j WHERE j.org_id = $1 AND j.job_id = r.job_id",
        "INSERT INTO rag_usage (calls) SELECT calls FROM rag_runs WHERE org_id = $1",
    ],
)
def test_a_join_without_the_organisation_is_found(planted: str) -> None:
    assert unjoined(planted, OF_TENANTS) != []


@pytest.mark.parametrize(
    "sound",
    [
        "SELECT FROM rag_chunks c JOIN rag_documents d USING (org_id, workspace_id, document_id) WHERE c.org_id = $1",
        "SELECT FROM rag_chunks c JOIN rag_documents d ON (d.org_id, d.title) = (c.org_id, c.text) WHERE c.org_id = $1",
        "INSERT INTO rag_usage (org_id, calls) SELECT org_id, 1 FROM rag_runs WHERE org_id = $1",
        "SELECT FROM rag_chunks c WHERE c.org_id = $1 AND EXISTS (SELECT FROM rag_documents d WHERE d.org_id = $1)",
    ],
)
def test_a_join_on_the_organisation_passes(sound: str) -> None:
    assert unjoined(sound, OF_TENANTS) == []
