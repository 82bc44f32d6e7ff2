"""Every GraphQL document that the command line sends. Fields are in the order in which `--json` prints them."""

from __future__ import annotations

FAULTS = "userErrors { code message path }"
"""What each mutation is asked for beside its result."""

_WORKSPACE = "id name kind externalRef corpusVersion createdAt"

WORKSPACES = f"query {{ workspaces {{ {_WORKSPACE} }} }}"

CREATE_WORKSPACE = f"""
mutation ($input: CreateWorkspaceInput!) {{
  createWorkspace(input: $input) {{ workspace {{ {_WORKSPACE} }} {FAULTS} }}
}}
"""

RENAME_WORKSPACE = f"""
mutation ($workspaceId: ID!, $name: String!) {{
  renameWorkspace(workspaceId: $workspaceId, name: $name) {{ workspace {{ {_WORKSPACE} }} {FAULTS} }}
}}
"""

SHARE_WORKSPACE = f"""
mutation ($workspaceId: ID!, $readers: [String!], $writers: [String!]) {{
  setWorkspaceAccess(workspaceId: $workspaceId, readers: $readers, writers: $writers) {{
    workspace {{ {_WORKSPACE} readers writers }} {FAULTS}
  }}
}}
"""

KEEP_WORKSPACE = f"""
mutation ($input: UpdateWorkspaceSettingsInput!) {{
  updateWorkspaceSettings(input: $input) {{
    workspace {{ {_WORKSPACE} settings {{ historyDays runsDays jobsDays usageDays auditDays }} }} {FAULTS}
  }}
}}
"""

_DOCUMENT = """
id sourcePath title url fileName mediaType size status withdrawn missing
unreadPages { count pages numbers unit } recognisedPages { count pages numbers }
leftOut { characters total parts { start end } }
error { code message attempts retryable }
chunkCount chunksDone uploadedBy
embedding { space chunks tokens reusedChunks costUsd estimatedCostUsd }
provenance { name value } metadata { tags domain language date fields { name type value } } createdAt updatedAt
"""

_DOCUMENTS = """
query (
  $workspaceId: ID!, $statuses: [DocumentStatus!], $filter: DocumentFilterInput, $first: Int!, $after: String
) {
  documents(workspaceId: $workspaceId, statuses: $statuses, filter: $filter, first: $first, after: $after) {
    nodes { %s } pageInfo { hasNextPage endCursor }
  }
}
"""

DOCUMENTS = _DOCUMENTS % _DOCUMENT

DOCUMENT_PATHS = _DOCUMENTS % "id sourcePath"

DOCUMENT = f"query ($id: ID!) {{ document(id: $id) {{ {_DOCUMENT} readableBy {{ users keys groups }} }} }}"

DOCUMENT_STATE = """
query ($id: ID!) {
  document(id: $id) {
    sourcePath status error { code message } unreadPages { count pages numbers unit } leftOut { characters total }
    recognisedPages { count pages } chunksDone chunkCount
  }
}
"""

UPDATE_DOCUMENT = f"""
mutation ($id: ID!, $title: String, $metadata: DocumentMetadataInput) {{
  updateDocument(id: $id, title: $title, metadata: $metadata) {{
    document {{ id sourcePath title metadata {{ tags domain language date fields {{ name type value }} }} }} {FAULTS}
  }}
}}
"""

SHARE = f"""
mutation ($id: ID!, $readableBy: ReadersInput, $allVersions: Boolean!) {{
  setDocumentAccess(id: $id, readableBy: $readableBy, allVersions: $allVersions) {{
    document {{ sourcePath }} {FAULTS}
  }}
}}
"""

SET_WRITERS = f"""
mutation ($id: ID!, $writers: [String!]!) {{
  setDocumentWriters(id: $id, writers: $writers) {{ document {{ sourcePath writers }} {FAULTS} }}
}}
"""

TRANSFER = f"""
mutation ($id: ID!, $to: String!) {{
  transferOwnership(id: $id, to: $to) {{ document {{ sourcePath uploadedBy }} {FAULTS} }}
}}
"""

WITHDRAW = f"""
mutation ($id: ID!) {{ withdrawDocument(id: $id) {{ document {{ sourcePath withdrawn }} {FAULTS} }} }}
"""

RESTORE = f"""
mutation ($id: ID!) {{ restoreDocument(id: $id) {{ document {{ sourcePath withdrawn }} {FAULTS} }} }}
"""

REINGEST = f"""
mutation ($id: ID!, $force: Boolean!) {{
  reingest(documentId: $id, force: $force) {{ document {{ id sourcePath }} jobId new {FAULTS} }}
}}
"""

DOCUMENT_CHUNKS = """
query ($id: ID!, $first: Int!, $after: String) {
  documentChunks(documentId: $id, first: $first, after: $after) {
    nodes { id sourceId page lineStart lineEnd headingPath text } pageInfo { hasNextPage endCursor }
  }
}
"""

_SOURCE = """
id name kind location prefix include readableBy everySeconds internal hasCredential addedBy leaving
failures resting errorCode errorMessage
counts { new changed unchanged inProgress moved hidden returned unreadable done total }
unreadable { path code message } documentCounts { ready pending failed } createdAt startedAt syncedAt nextAt
"""

SOURCES = f"query ($workspaceId: ID!) {{ sources(workspaceId: $workspaceId) {{ {_SOURCE} }} }}"

SOURCE = f"query ($id: ID!) {{ source(id: $id) {{ {_SOURCE} }} }}"

ADD_SOURCE = f"mutation ($input: AddSourceInput!) {{ addSource(input: $input) {{ source {{ {_SOURCE} }} {FAULTS} }} }}"

SYNC_SOURCE = f"""
mutation ($id: ID!, $deleteMissing: Boolean!) {{
  syncSource(id: $id, deleteMissing: $deleteMissing) {{ jobId source {{ {_SOURCE} }} {FAULTS} }}
}}
"""

REMOVE_SOURCE = f"""
mutation ($id: ID!, $keepDocuments: Boolean!) {{
  removeSource(id: $id, keepDocuments: $keepDocuments) {{ removed {FAULTS} }}
}}
"""

_PLACE = "queuePlace { before estimatedSeconds }"

QUEUE_PLACE = f"query ($id: ID!) {{ job(id: $id) {{ {_PLACE} }} }}"

UPLOAD = f"""
mutation (
  $workspaceId: ID!, $file: Upload!, $key: String, $readableBy: ReadersInput, $metadata: DocumentMetadataInput
) {{
  uploadDocument(
    workspaceId: $workspaceId, file: $file, idempotencyKey: $key, readableBy: $readableBy, metadata: $metadata
  ) {{
    document {{ id workspaceId sourcePath }} job {{ id {_PLACE} }} unchanged {FAULTS}
  }}
}}
"""

_HOP = "kind via fromChunkId fromTitle toChunkId toTitle"

CITATION = (
    "marker sourcePath title page lineStart lineEnd headingPath snippet score verified documentId: sourceId readAt "
    "symbol { name lineStart lineEnd } "
    "url origin fetchedAt published recognised "
    f"path {{ {_HOP} }} document {{ unreadPages {{ count pages unit }} }}"
)

_ANSWER = f"""
id question answer outcome
abstention {{ reason explanation nearest {{ {CITATION} }} }}
citations {{ {CITATION} }}
degraded cache seconds stages {{ stage started seconds outcome }}
outside {{ searches pages ready known pending partial refusals }}
"""

SEARCH = f"""
query ($input: SearchPassagesInput!) {{
  searchPassages(input: $input) {{
    passages {{
      sourceId chunkId title sourcePath url mediaType text span {{ start end }} page lineStart lineEnd headingPath
      similarity cosine score scores {{ retriever rank raw normalized weight }} flags recognised
    }}
    corpusVersion embeddingSpace degraded {FAULTS}
  }}
}}
"""

CONTEXT = f"""
query ($input: ContextInput!) {{
  context(input: $input) {{
    text step tokens template templateVersion
    sources {{
      sourceId chunkId workspaceId title sourcePath span {{ start end }} isCut similarity agent flags recognised
    }}
    fault {FAULTS}
  }}
}}
"""

_TEMPLATE = "name version isBuiltIn heading opening item joint topK minSimilarity isFixed itemCharacters maxTokens"

TEMPLATES = f"query ($workspaceId: ID!) {{ contextTemplates(workspaceId: $workspaceId) {{ {_TEMPLATE} }} }}"

SAVE_TEMPLATE = f"""
mutation ($input: SaveContextTemplateInput!) {{
  saveContextTemplate(input: $input) {{ template {{ {_TEMPLATE} }} {FAULTS} }}
}}
"""

DELETE_TEMPLATE = f"""
mutation ($workspaceId: ID!, $name: String!) {{
  deleteContextTemplate(workspaceId: $workspaceId, name: $name) {{ deletedName {FAULTS} }}
}}
"""

ANSWERED = f"""
run {{
  {_ANSWER}
  threadId
  versions {{ corpusVersion }}
  debug {{ standaloneQuestion candidates {{ sourceId }} }}
}}
{FAULTS}
"""

ASK = f"mutation ($input: RagAnswerInput!) {{ ragAnswer(input: $input) {{ {ANSWERED} }} }}"

QUOTES = """
query ($id: ID!) {
  run(id: $id) {
    versions { corpusVersion } citations { documentId: sourceId snippet sourceSpan { start end } }
    debug { fetchedPages { text } }
  }
}
"""

TEXT_AT = """
query ($id: ID!, $start: Int!, $end: Int!, $asOf: Int!) {
  document(id: $id) { text(start: $start, end: $end, asOf: $asOf) { text } }
}
"""

LAST_RUN = "query ($workspaceId: ID!) { runs(workspaceId: $workspaceId, first: 1) { nodes { id } } }"

RUNS = """
query ($workspaceId: ID!, $first: Int!, $after: String, $filter: RunFilterInput) {
  runs(workspaceId: $workspaceId, first: $first, after: $after, filter: $filter) {
    nodes { id question outcome cache seconds versions { corpusVersion } createdAt }
    pageInfo { hasNextPage endCursor }
  }
}
"""

RUN = f"""
query ($id: ID!) {{
  run(id: $id) {{
    {_ANSWER}
    traceId subject createdAt
    versions {{ corpusVersion graphVersion space weightsVersion pipelineVersion models }}
    gate {{
      planType score mode
      contributions {{ name value weight contribution }}
      downgrades {{ before: from after: to reason }}
    }}
    debug {{
      standaloneQuestion rewrittenQuery
      plan {{ subQuestions {{ text }} answerType tools {{ tool argument }} planner filters }}
      chat {{ calls inputTokens outputTokens costUsd }}
    }}
  }}
}}
"""

_CANDIDATE = f"""
rank chunkId sourceId title score scores {{ retriever rank raw normalized weight }}
path {{ {_HOP} }} fate reason markers
"""

EXPLAIN = f"""
query ($runId: ID!, $whyNot: [ID!]) {{
  explainRun(runId: $runId, whyNot: $whyNot) {{
    run {{ id question outcome versions {{ corpusVersion }} }}
    searches
    candidates {{ {_CANDIDATE} }}
    whyNot {{
      chunkId title verdict explanation candidate {{ {_CANDIDATE} }}
      searches {{
        search rank reranked score candidates handedOn leastScore
        scores {{ retriever state rank raw normalized weight }}
      }}
    }}
  }}
}}
"""

_SPACE = "name provider model dimensions state done total since dropAfter verdict { k questions before after passed }"

SPACES = f"query ($workspaceId: ID!) {{ embeddingSpaces(workspaceId: $workspaceId) {{ {_SPACE} }} }}"

SWITCH = f"""
mutation ($input: SwitchEmbeddingSpaceInput!) {{
  switchEmbeddingSpace(input: $input) {{ space {{ {_SPACE} }} jobId {FAULTS} }}
}}
"""

CANCEL_SWITCH = f"""
mutation ($workspaceId: ID!) {{ cancelEmbeddingSwitch(workspaceId: $workspaceId) {{ space {{ {_SPACE} }} {FAULTS} }} }}
"""

JOB_STATE = "query ($id: ID!) { job(id: $id) { state progress errorCode errorMessage } }"

USAGE = """
query ($from: Date!, $to: Date!) {
  usage(from: $from, to: $to) {
    lines {
      workspaceId day kind provider model ownKey calls inputTokens outputTokens costUsd unpricedCalls
    }
    costUsd unpricedCalls pricedOn
  }
}
"""

BUDGETS = (
    "query ($workspaceId: ID!) { budgets(workspaceId: $workspaceId) { scope period kind limitUsd spentUsd resetsAt } }"
)

SET_BUDGET = f"mutation ($input: SetBudgetInput!) {{ setBudget(input: $input) {{ changed {FAULTS} }} }}"

_KEY = "id name subject role groups scopes createdAt expiresAt revokedAt lastUsedAt"

API_KEYS = f"query {{ apiKeys {{ {_KEY} }} }}"

CREATE_API_KEY = f"""
mutation ($input: CreateApiKeyInput!) {{ createApiKey(input: $input) {{ apiKey {{ {_KEY} }} token {FAULTS} }} }}
"""

REVOKE_API_KEY = f"mutation ($id: ID!) {{ revokeApiKey(id: $id) {{ apiKey {{ {_KEY} }} {FAULTS} }} }}"

AUDIT_LOG = """
query ($first: Int!, $after: String, $workspaceId: ID, $actor: String, $action: String, $since: DateTime,
       $until: DateTime) {
  auditLog(first: $first, after: $after, workspaceId: $workspaceId, actor: $actor, action: $action, since: $since,
           until: $until) {
    nodes {
      createdAt actor action subject workspaceId detail { name value } traceId
      caller { credential address role groups scopes }
    }
    pageInfo { hasNextPage endCursor }
  }
}
"""

_MODELS = "defaultModel embedding mustBringKey"

MODEL_SETTINGS = f"query {{ modelSettings {{ {_MODELS} }} }}"

UPDATE_MODEL_SETTINGS = f"""
mutation ($input: UpdateModelSettingsInput!) {{
  updateModelSettings(input: $input) {{ settings {{ {_MODELS} }} {FAULTS} }}
}}
"""

REMOVE_PROVIDER_KEY = f"""
mutation ($provider: ModelProvider!) {{ removeProviderKey(provider: $provider) {{ removed {FAULTS} }} }}
"""

START_EVAL_RUN = f"""
mutation ($input: StartEvalRunInput!) {{ startEvalRun(input: $input) {{ evalRun {{ jobId }} {FAULTS} }} }}
"""

CALIBRATE = f"""
mutation ($workspaceId: ID!, $error: Float!, $dryRun: Boolean!) {{
  calibrate(workspaceId: $workspaceId, error: $error, dryRun: $dryRun) {{ job {{ id }} {FAULTS} }}
}}
"""

RESET_CALIBRATION = f"""
mutation ($workspaceId: ID!) {{ resetCalibration(workspaceId: $workspaceId) {{ space {FAULTS} }} }}
"""

_LINE = "{ kind threshold questions bound abstained low high }"
_CALIBRATION = f"{{ space inForce error pooled {_LINE} kinds {_LINE} }}"

CALIBRATION = f"""
query ($id: ID!) {{ workspace(id: $id) {{ calibration {_CALIBRATION} calibrationTrial {_CALIBRATION} }} }}
"""

EVAL_RUN = "query ($jobId: ID!) { evalRun(jobId: $jobId) { questions answered report } }"
