"""GraphQL documents of the commands for operators: jobs, snapshots, organisations, what the stores hold."""

from __future__ import annotations

from agentic_rag_cli.client.queries import FAULTS

_JOB = """
id kind: kindName state queue key documentId document { id sourcePath } arguments { name value } attempts progress
traceId errorCode errorMessage runAfter createdAt updatedAt
"""

_PUSHED = """
awaited new changed unchanged inProgress moved hidden returned deleted unreadable { path code message } waitingFor
"""

PUSH_LISTING = f"""
mutation (
  $input: PushedSourceInput!, $file: Upload!, $metadata: DocumentMetadataInput, $deleteMissing: Boolean!,
  $dryRun: Boolean!
) {{
  pushListing(
    input: $input, file: $file, metadata: $metadata, deleteMissing: $deleteMissing, dryRun: $dryRun
  ) {{ {_PUSHED} {FAULTS} }}
}}
"""

PUSH_FILE = f"""
mutation ($input: PushedSourceInput!, $path: String!, $file: Upload!, $namedReaders: [String!]) {{
  pushFile(input: $input, path: $path, file: $file, namedReaders: $namedReaders) {{ {_PUSHED} {FAULTS} }}
}}
"""

PUSHED_SOURCES = "query ($workspaceId: ID!) { pushedSources(workspaceId: $workspaceId) }"

PUSHED_DOCUMENTS = """
query ($workspaceId: ID!, $source: String!) {
  pushedDocuments(workspaceId: $workspaceId, source: $source) { ready pending failed }
}
"""

_PAGE = "pageInfo { hasNextPage endCursor }"

JOBS = f"""
query ($workspaceId: ID!, $states: [JobState!], $first: Int!, $after: String) {{
  jobs(workspaceId: $workspaceId, states: $states, first: $first, after: $after) {{ nodes {{ {_JOB} }} {_PAGE} }}
}}
"""

JOB = f"""
query ($id: ID!) {{
  job(id: $id) {{
    {_JOB} attemptHistory {{ attempt worker startedAt endedAt outcome errorCode errorChain }}
  }}
}}
"""

EVALUATION = """
query ($jobId: ID!) { evalRun(jobId: $jobId) { dataset questions answered figures { name mean } } }
"""

DEAD_LETTERS = f"""
query ($workspaceId: ID!, $kinds: [JobKind!], $codes: [String!], $first: Int!, $after: String) {{
  deadLetters(workspaceId: $workspaceId, kinds: $kinds, codes: $codes, first: $first, after: $after) {{
    nodes {{ {_JOB} }} {_PAGE}
  }}
}}
"""

REPLAY = f"mutation ($id: ID!) {{ replayDeadLetter(id: $id) {{ job {{ {_JOB} }} outcome {FAULTS} }} }}"

PURGE = f"mutation ($id: ID!) {{ purgeDeadLetter(id: $id) {{ job {{ {_JOB} }} purged {FAULTS} }} }}"

UNDECODABLE = f"""
query ($first: Int!, $after: String) {{
  undecodableMessages(first: $first, after: $after) {{
    nodes {{ id queue entry code reason bytes base64 deliveries firstSeen lastSeen }} {_PAGE}
  }}
}}
"""

PURGE_UNDECODABLE = f"mutation ($id: ID!) {{ purgeUndecodableMessage(id: $id) {{ purged {FAULTS} }} }}"

_SNAPSHOT = """
id jobId workspaceId state reason corpusVersion withOriginals size counts { table rows } manifest stored errorCode
createdAt finishedAt
"""

SNAPSHOTS = f"query ($workspaceId: ID!) {{ snapshots(workspaceId: $workspaceId) {{ {_SNAPSHOT} }} }}"

STORED_SNAPSHOTS = """
query {
  storedSnapshots {
    id workspaceId workspace corpusVersion withOriginals missingOriginals spaces counts { table rows } schema product
    createdAt folder
  }
}
"""

CREATE_SNAPSHOT = f"""
mutation ($workspaceId: ID!, $withOriginals: Boolean!) {{
  createSnapshot(workspaceId: $workspaceId, withOriginals: $withOriginals) {{
    snapshot {{ {_SNAPSHOT} }} {FAULTS}
  }}
}}
"""

DELETE_SNAPSHOT = f"mutation ($id: ID!) {{ deleteSnapshot(id: $id) {{ deletedId size {FAULTS} }} }}"

RESTORE_SNAPSHOT = f"""
mutation ($id: ID!, $into: String, $rights: RestoredRights!) {{
  restoreSnapshot(id: $id, into: $into, rights: $rights) {{
    snapshotId workspaceId workspace corpusVersion alreadyRestored rows originals leftOutAsErased withNarrowerRights
    ingestedAgain {FAULTS}
  }}
}}
"""

VERIFICATION = """
query ($workspaceId: ID!, $full: Boolean!) {
  verification(workspaceId: $workspaceId, full: $full) {
    failed documents chunks derivedChunks originals settling { kind count } counts { kind count }
    findings { store kind severity subject message remedy }
  }
}
"""

DENSE_RECALL = """
query ($workspaceId: ID!) {
  denseRecall(workspaceId: $workspaceId) {
    space passages questions recall recallAt10 exactMs searchedMs isEnough
  }
}
"""

_SIZE = "{ sources chunks entities mentions related }"

GRAPH_STATUS = f"""
query ($workspaceId: ID!) {{
  graphStatus(workspaceId: $workspaceId) {{
    store corpusVersion graphVersion lag equal expected {_SIZE} held {_SIZE} fault
  }}
}}
"""

REBUILD_GRAPH = f"""
mutation ($workspaceId: ID!) {{
  rebuildGraph(workspaceId: $workspaceId) {{ jobId workerRunning {FAULTS} }}
}}
"""

SCHEMA_STATUS = "query { schemaStatus { current head pending } }"

SAMPLE_PASSAGES = """
query ($workspaceId: ID!, $most: Int!, $seed: Int!) {
  samplePassages(workspaceId: $workspaceId, most: $most, seed: $seed) { sourcePath title text }
}
"""

_LIMITS = "{ asks writes reads storedMegabytes }"

_TENANT = f"""
id name externalRef createdAt features {{ flag on }} mustBringKey ownLimits {_LIMITS} limits {_LIMITS}
"""

TENANTS = f"query {{ tenants {{ {_TENANT} }} }}"

CREATE_TENANT = f"""
mutation ($input: CreateTenantInput!) {{ createTenant(input: $input) {{ tenant {{ {_TENANT} }} {FAULTS} }} }}
"""

UPDATE_TENANT = f"""
mutation ($input: UpdateTenantInput!) {{
  updateTenant(input: $input) {{ tenant {{ {_TENANT} }} purgedCrawls {FAULTS} }}
}}
"""

ATTACK_TENANTS = f"""
mutation {{
  attackTenants {{ organisations checks leaks {{ asking owner place }} blind failed {FAULTS} }}
}}
"""

_PROVIDER_KEY = "provider hint baseUrl setBy createdAt updatedAt masterKey"

PROVIDER_KEYS = f"query {{ providerKeys {{ {_PROVIDER_KEY} }} }}"

SET_PROVIDER_KEY = f"""
mutation ($input: SetProviderKeyInput!) {{
  setProviderKey(input: $input) {{ providerKey {{ {_PROVIDER_KEY} }} {FAULTS} }}
}}
"""

ROTATE_MASTER_KEY = f"mutation {{ rotateMasterKey {{ active rewrapped unreadable {FAULTS} }} }}"

_RAG_CONFIG = "settings { ragConfig { topK similarityThreshold rerank } }"

RAG_CONFIG = f"query ($id: ID!) {{ workspace(id: $id) {{ {_RAG_CONFIG} }} }}"

SET_RAG_CONFIG = f"""
mutation ($input: UpdateWorkspaceSettingsInput!) {{
  updateWorkspaceSettings(input: $input) {{ workspace {{ {_RAG_CONFIG} }} {FAULTS} }}
}}
"""
