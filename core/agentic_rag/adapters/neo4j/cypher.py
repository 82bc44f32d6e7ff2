"""All statements of this adapter. `$workspaceId` names organisation and workspace and is in every statement, so that
none can match data of another workspace.

    (:RagSource {id, title, workspaceId, revision, accessId, fence})-[:MENTIONS {count}]->(:RagEntity)
    (:RagChunk {id, ordinal, workspaceId})-[:MENTIONS {count, related, weights}]->(:RagEntity)
    (:RagChunk)-[:DERIVED_FROM]->(:RagSource)
    (:RagEntity {id, name, type, sourceId, workspaceId})-[:RELATED {weight}]-(:RagEntity), stored once, lower id first
    (:RagWorkspace {id, fence, version, target, guarded})

`related` and `weights` of a chunk's mention list the entities of higher id that share a sentence with it, and how
often; removing the chunk subtracts these weights from the pairs.
"""

from __future__ import annotations

from typing import LiteralString

SCHEMA: tuple[LiteralString, ...] = (
    "CREATE CONSTRAINT rag_workspace_id IF NOT EXISTS FOR (n:RagWorkspace) REQUIRE n.id IS UNIQUE",
    "CREATE CONSTRAINT rag_source_id IF NOT EXISTS FOR (n:RagSource) REQUIRE (n.workspaceId, n.id) IS UNIQUE",
    "CREATE CONSTRAINT rag_chunk_id IF NOT EXISTS FOR (n:RagChunk) REQUIRE (n.workspaceId, n.id) IS UNIQUE",
    "CREATE CONSTRAINT rag_chunk_ordinal IF NOT EXISTS FOR (n:RagChunk) REQUIRE (n.workspaceId, n.ordinal) IS UNIQUE",
    "CREATE CONSTRAINT rag_entity_id IF NOT EXISTS FOR (n:RagEntity) REQUIRE (n.workspaceId, n.id) IS UNIQUE",
    "CREATE INDEX rag_entity_source IF NOT EXISTS FOR (n:RagEntity) ON (n.workspaceId, n.sourceId)",
)

# --- reading: one statement a frontier -----------------------------------------------------------------------------

_STATE = """
OPTIONAL MATCH (state:RagWorkspace {id: $workspaceId})
WITH state.version AS version, state.target AS target
"""

# Whether the caller may read a chunk; $accessIds is null for an unrestricted reader. Sources written by older versions
# have no access set; it defaults to 0.
_READABLE = """($accessIds IS NULL OR EXISTS {
            MATCH (chunk)-[:DERIVED_FROM]->(source:RagSource) WHERE coalesce(source.accessId, 0) IN $accessIds
        })"""

# The passages of each entity in `ids`, at most cap + 1: more than `cap` only means "too many". Unsorted, so that an
# entity mentioned in half the corpus costs no more.
_PASSAGES: LiteralString = f"""
CALL (ids) {{
    UNWIND ids AS id
    WITH DISTINCT id
    MATCH (entity:RagEntity {{workspaceId: $workspaceId, id: id}})
    CALL (entity) {{
        MATCH (chunk:RagChunk)-[mention:MENTIONS]->(entity)
        WHERE {_READABLE}
        WITH chunk.ordinal AS ordinal, mention.count AS count
        LIMIT $cap + 1
        RETURN collect([ordinal, count]) AS passages
    }}
    RETURN collect([id, passages]) AS reached
}}
"""

MENTIONS_OF: LiteralString = f"""
{_STATE}, $entityIds AS ids
{_PASSAGES}
RETURN version, target, reached
"""

VICINITY: LiteralString = f"""
{_STATE}
CALL () {{
    UNWIND $ordinals AS ordinal
    MATCH (chunk:RagChunk {{workspaceId: $workspaceId, ordinal: ordinal}})-[mention:MENTIONS]->(entity:RagEntity)
    WHERE {_READABLE}
    RETURN collect([entity.id, ordinal, mention.count]) AS held
}}
WITH version, target, held, $entityIds + [mention IN held | mention[0]] AS ids
{_PASSAGES}
RETURN version, target, held, reached
"""

# Around what is read of each entity asked for, as `found`.
_EACH_ENTITY: LiteralString = f"""
{_STATE}
CALL () {{
    UNWIND $entityIds AS id
    MATCH (entity:RagEntity {{workspaceId: $workspaceId, id: id}})
"""
_EACH_FOUND = """
}
RETURN version, target, found
"""

NEIGHBOURS: LiteralString = f"""
{_EACH_ENTITY}
    CALL (entity) {{
        MATCH (entity)-[relation:RELATED]-(other:RagEntity)
        WITH other.id AS other, relation.weight AS weight
        ORDER BY weight DESC, other
        LIMIT $cap
        RETURN collect([other, weight]) AS neighbours
    }}
    RETURN collect([id, neighbours]) AS found
{_EACH_FOUND}"""

# NEIGHBOURS for a restricted reader: a pair's weight counts only readable passages. The mention of the entity with the
# lower id stores the pair's weight.
NEIGHBOURS_IN_READABLE: LiteralString = f"""
{_EACH_ENTITY}
    CALL (entity) {{
        MATCH (other:RagEntity)<-[its:MENTIONS]-(chunk:RagChunk)-[own:MENTIONS]->(entity)
        WHERE {_READABLE}
        WITH other.id AS other, CASE WHEN entity.id < other.id THEN [own, other.id] ELSE [its, entity.id] END AS pair
        WITH other, pair[0] AS mention, pair[1] AS partner
        WITH other, sum(reduce(weight = 0, place IN range(0, size(mention.related) - 1) |
            weight + CASE WHEN mention.related[place] = partner THEN mention.weights[place] ELSE 0 END)) AS weight
        WHERE weight > 0
        WITH other, weight ORDER BY weight DESC, other
        LIMIT $cap
        RETURN collect([other, weight]) AS neighbours
    }}
    RETURN collect([id, neighbours]) AS found
{_EACH_FOUND}"""

NAMES: LiteralString = f"""
{_EACH_ENTITY}
    RETURN collect([id, entity.name]) AS found
{_EACH_FOUND}"""

# --- following ----------------------------------------------------------------------------------------------------

WATERMARK: LiteralString = """
MATCH (state:RagWorkspace {id: $workspaceId})
RETURN state.version AS version, state.target AS target, state.fence AS fence
"""

# Setting a property locks the node before the fence is compared, until the transaction ends. No other writer can come
# between this statement and the commit.
CLAIM: LiteralString = """
MERGE (state:RagWorkspace {id: $workspaceId})
ON CREATE SET state.fence = 0, state.version = 0, state.target = 0
SET state.guarded = true
WITH state
WHERE state.fence < $fence
SET state.fence = $fence
RETURN state.version AS version, state.target AS target, state.fence AS fence
"""

_GUARD = """
MATCH (state:RagWorkspace {id: $workspaceId})
SET state.guarded = true
WITH state
WHERE state.fence = $fence
"""

BEGIN: LiteralString = f"""
{_GUARD}
SET state.target = $target
RETURN state.fence AS fence
"""

REACHED: LiteralString = f"""
{_GUARD}
SET state.version = $version, state.target = $target
RETURN state.fence AS fence
"""

DROP_CHUNKS: LiteralString = f"""
{_GUARD}
UNWIND $ordinals AS ordinal
MATCH (chunk:RagChunk {{workspaceId: $workspaceId, ordinal: ordinal}})
DETACH DELETE chunk
RETURN count(*) AS changed
"""

PUT_SOURCES: LiteralString = f"""
{_GUARD}
UNWIND $sources AS row
MERGE (source:RagSource {{workspaceId: $workspaceId, id: row[0]}})
SET source.title = row[1], source.revision = row[2], source.accessId = row[3], source.fence = $fence
RETURN count(*) AS changed
"""

PUT_ENTITIES: LiteralString = f"""
{_GUARD}
UNWIND $entities AS row
MERGE (entity:RagEntity {{workspaceId: $workspaceId, id: row[0]}})
SET entity.name = row[1], entity.type = row[2], entity.sourceId = row[3]
RETURN count(*) AS changed
"""

ADD_CHUNKS: LiteralString = f"""
{_GUARD}
UNWIND $chunks AS row
MATCH (source:RagSource {{workspaceId: $workspaceId, id: row[2]}})
CREATE (chunk:RagChunk {{workspaceId: $workspaceId, ordinal: row[0], id: row[1]}})-[:DERIVED_FROM]->(source)
RETURN count(*) AS changed
"""

ADD_MENTIONS: LiteralString = f"""
{_GUARD}
UNWIND $mentions AS row
MATCH (chunk:RagChunk {{workspaceId: $workspaceId, ordinal: row[0]}})
MATCH (entity:RagEntity {{workspaceId: $workspaceId, id: row[1]}})
CREATE (chunk)-[:MENTIONS {{count: row[2], related: row[3], weights: row[4]}}]->(entity)
RETURN count(*) AS changed
"""

COUNT_SOURCES: LiteralString = f"""
{_GUARD}
UNWIND $counts AS row
MATCH (source:RagSource {{workspaceId: $workspaceId, id: row[0]}})
MATCH (entity:RagEntity {{workspaceId: $workspaceId, id: row[1]}})
MERGE (source)-[mention:MENTIONS]->(entity)
SET mention.count = coalesce(mention.count, 0) + row[2]
WITH mention
WHERE mention.count <= 0
DELETE mention
"""

RELATE: LiteralString = f"""
{_GUARD}
UNWIND $weights AS row
MATCH (one:RagEntity {{workspaceId: $workspaceId, id: row[0]}})
MATCH (other:RagEntity {{workspaceId: $workspaceId, id: row[1]}})
MERGE (one)-[relation:RELATED]->(other)
SET relation.weight = coalesce(relation.weight, 0) + row[2]
WITH relation
WHERE relation.weight <= 0
DELETE relation
"""

DROP_SOURCES: LiteralString = f"""
{_GUARD}
UNWIND $gone AS id
MATCH (source:RagSource {{workspaceId: $workspaceId, id: id}})
DETACH DELETE source
"""

DROP_ORPHANS: LiteralString = f"""
{_GUARD}
UNWIND $touched AS id
MATCH (entity:RagEntity {{workspaceId: $workspaceId, id: id}})
WHERE NOT EXISTS {{ (:RagChunk)-[:MENTIONS]->(entity) }}
DETACH DELETE entity
"""

# `IS NOT NULL` lets the composite index find all nodes of a workspace.
_NODES_OF_WORKSPACE = """
    MATCH (node:RagChunk) WHERE node.workspaceId = $workspaceId AND node.id IS NOT NULL RETURN node LIMIT $limit
    UNION ALL
    MATCH (node:RagSource) WHERE node.workspaceId = $workspaceId AND node.id IS NOT NULL RETURN node LIMIT $limit
    UNION ALL
    MATCH (node:RagEntity) WHERE node.workspaceId = $workspaceId AND node.id IS NOT NULL RETURN node LIMIT $limit"""

CLEAR: LiteralString = f"""
{_GUARD}
SET state.version = $clearing, state.target = $clearing
WITH state
CALL () {{
{_NODES_OF_WORKSPACE}
}}
WITH node LIMIT $limit
DETACH DELETE node
RETURN count(*) AS changed
"""

HELD: LiteralString = """
UNWIND $documentIds AS id
MATCH (source:RagSource {workspaceId: $workspaceId, id: id})
RETURN id, [(chunk:RagChunk)-[:DERIVED_FROM]->(source) | chunk.ordinal] AS ordinals
"""

CHUNKS: LiteralString = """
UNWIND $ordinals AS ordinal
MATCH (chunk:RagChunk {workspaceId: $workspaceId, ordinal: ordinal})-[:DERIVED_FROM]->(source:RagSource)
RETURN ordinal, chunk.id AS id, source.id AS source,
       [(chunk)-[mention:MENTIONS]->(entity:RagEntity) | [entity.id, mention.count, mention.related, mention.weights]]
       AS mentions
"""

HOMED: LiteralString = """
UNWIND $documentIds AS id
MATCH (entity:RagEntity {workspaceId: $workspaceId, sourceId: id})
RETURN entity.id AS id
"""

COUNTS: LiteralString = """
RETURN
  COUNT { MATCH (n:RagSource) WHERE n.workspaceId = $workspaceId AND n.id IS NOT NULL } AS sources,
  COUNT { MATCH (n:RagChunk) WHERE n.workspaceId = $workspaceId AND n.id IS NOT NULL } AS chunks,
  COUNT { MATCH (n:RagEntity) WHERE n.workspaceId = $workspaceId AND n.id IS NOT NULL } AS entities,
  COUNT { MATCH (n:RagChunk)-[:MENTIONS]->() WHERE n.workspaceId = $workspaceId AND n.id IS NOT NULL } AS mentions,
  COUNT { MATCH (n:RagEntity)-[:RELATED]->() WHERE n.workspaceId = $workspaceId AND n.id IS NOT NULL } AS related
"""

# The nodes that refer to a document: its source, the chunks derived from it, the entities whose first source it is.
TRACES: LiteralString = """
RETURN
  COUNT { MATCH (n:RagSource) WHERE n.workspaceId = $workspaceId AND n.id = $documentId }
  + COUNT { MATCH (n:RagChunk)-[:DERIVED_FROM]->(s:RagSource)
            WHERE n.workspaceId = $workspaceId AND s.workspaceId = $workspaceId AND s.id = $documentId }
  + COUNT { MATCH (n:RagEntity) WHERE n.workspaceId = $workspaceId AND n.sourceId = $documentId } AS nodes
"""

WORKSPACE_NODES: LiteralString = """
RETURN
  COUNT { MATCH (n:RagWorkspace {id: $workspaceId}) }
  + COUNT { MATCH (n:RagSource) WHERE n.workspaceId = $workspaceId AND n.id IS NOT NULL }
  + COUNT { MATCH (n:RagChunk) WHERE n.workspaceId = $workspaceId AND n.id IS NOT NULL }
  + COUNT { MATCH (n:RagEntity) WHERE n.workspaceId = $workspaceId AND n.id IS NOT NULL } AS nodes
"""

DROP_WORKSPACE: LiteralString = f"""
CALL () {{
    MATCH (node:RagWorkspace {{id: $workspaceId}}) RETURN node
    UNION ALL
{_NODES_OF_WORKSPACE}
}}
WITH node LIMIT $limit
DETACH DELETE node
RETURN count(*) AS gone
"""
