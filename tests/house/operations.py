"""The GraphQL operations that are sent, with every field that one question always answers alike.

Left out are clocks (`seconds`, `started`, `createdAt`, `readAt`, `updatedAt`) and ids that nothing else refers to
(`traceId`, ids of runs, download paths). Ids of documents and passages are asked for and replaced afterwards.
"""

from __future__ import annotations

UPLOAD = """
mutation($workspaceId: ID!, $file: Upload!, $sourcePath: String, $title: String) {
  uploadDocument(workspaceId: $workspaceId, file: $file, sourcePath: $sourcePath, title: $title) {
    document { id }
    userErrors { code message }
  }
}
"""

DOCUMENT = "query($id: ID!) { document(id: $id) { status error { code message } } }"

UNFINISHED_JOBS = """
query($workspaceId: ID!) { jobs(workspaceId: $workspaceId, states: [QUEUED, RUNNING], first: 1) { nodes { kindName } } }
"""

_FRAGMENTS = """
fragment Trail on Hop { kind via fromChunkId fromSourceId fromTitle toChunkId toSourceId toTitle }
fragment Arm on ArmScore { retriever rank raw normalized weight }
fragment Proof on Citation {
  marker origin sourceId sourcePath title url chunkId headingPath page lineStart lineEnd snippet verified flags score
  sourceSpan { start end }
  answerSpans { start end }
  scores { ...Arm }
  path { ...Trail }
  document {
    id sourcePath fileName title url mediaType size status chunkCount chunksDone uploadedBy
    provenance { name value }
    readableBy { users groups }
    embedding { space chunks tokens reusedChunks reusedTokens costUsd estimatedCostUsd }
  }
}
fragment Refusal on Abstention { reason explanation nearest { ...Proof } }
fragment Decision on GateDecision {
  mode planType score weightsVersion
  contributions { name value weight contribution }
  directives { useCrawl useRetrieval useSearch }
  downgrades { from to reason }
  thresholds { name value }
}
fragment Course on AnswerDebug {
  standaloneQuestion rewrittenQuery hydeText
  plan { planner answerType subQuestions { text dependsOn } tools { tool argument } }
  toolCalls { tool argument result errorCode }
  fetchedPages { url title text }
  candidates {
    chunkId sourceId title score droppedBecause flags
    scores { ...Arm }
    path { ...Trail }
  }
  selfCheck { citationCoverage repaired guardrails unsupportedClaims }
  support { score threshold contributions { name value weight contribution } }
  timings { stage outcome }
  chat { calls inputTokens outputTokens costUsd }
}
fragment Versions on Run {
  question outcome cache subject
  stages { stage outcome }
  versions { corpusVersion graphVersion models pipelineVersion space weightsVersion }
}
"""

ASK = (
    """
mutation($input: RagAnswerInput!) {
  ragAnswer(input: $input) {
    answer outcome degraded
    abstention { ...Refusal }
    citations { ...Proof }
    debug { ...Course }
    gate { ...Decision }
    run { id ...Versions }
    userErrors { code message path }
  }
}
"""
    + _FRAGMENTS
)

EXPLAIN = (
    """
query($runId: ID!, $whyNot: [ID!]) {
  explainRun(runId: $runId, whyNot: $whyNot) {
    searches
    candidates { ...Story }
    whyNot {
      chunkId title verdict explanation
      candidate { ...Story }
      searches {
        search rank reranked score candidates handedOn leastScore
        scores { retriever state rank raw normalized weight }
      }
    }
    run {
      ...Versions
      answer degraded
      abstention { ...Refusal }
      citations { ...Proof }
      debug { ...Course }
      gate { ...Decision }
    }
  }
}
fragment Story on ExplainedCandidate {
  rank chunkId sourceId title score fate reason markers
  scores { ...Arm }
  path { ...Trail }
}
"""
    + _FRAGMENTS
)
