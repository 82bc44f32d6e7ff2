// Questions, their answers, and what is said of them.

export const CITATION = /* GraphQL */ `
  fragment CitationView on Citation {
    marker title snippet verified origin page lineStart lineEnd headingPath sourceId sourcePath chunkId url flags readAt recognised
    symbol { name lineStart lineEnd }
    answerSpans { start end }
    sourceSpan { start end }
    path { kind via fromTitle toTitle }
    document { id mediaType fileName downloadPath }
  }
`;

export const RUN = /* GraphQL */ `
  ${CITATION}
  fragment RunView on Run {
    id question answer outcome seconds createdAt subject cache degraded workspaceId traceId threadId
    versions { corpusVersion models pipelineVersion space }
    abstention { reason explanation nearest { ...CitationView } }
    citations { ...CitationView }
    stages { stage outcome seconds started }
    feedback { rating reason subject givenAt }
    usage { stage calls tokens costUsd estimatedUsd }
    gate { planType planned score intent downgrades { reason } }
    debug {
      support { score threshold }
      certainty { score threshold }
      standaloneQuestion
      plan { answerType planner subQuestions { text } filters }
      chat { calls inputTokens outputTokens costUsd }
      selfCheck { citationCoverage unsupportedClaims guardrails repaired }
      toolCalls { tool argument result errorCode }
      fetchedPages { url title }
    }
  }
`;

export const ASK = /* GraphQL */ `
  ${RUN}
  subscription Ask($input: RagAnswerInput!) {
    ragAnswerStream(input: $input) {
      kind stage outcome draft
      citation { marker title }
      answer { run { ...RunView } userErrors { code message path } }
    }
  }
`;

export const EXPLAIN = /* GraphQL */ `
  query Explain($runId: ID!, $whyNot: [ID!]) {
    explainRun(runId: $runId, whyNot: $whyNot) {
      searches
      candidates { chunkId title rank score fate reason markers scores { retriever rank } }
      whyNot { chunkId title verdict explanation }
    }
  }
`;

export const FIND_PASSAGES = /* GraphQL */ `
  query FindPassages($input: SearchPassagesInput!) {
    searchPassages(input: $input) {
      passages { chunkId title page lineStart lineEnd text similarity }
      userErrors { code message path }
    }
  }
`;

export const FEEDBACK = /* GraphQL */ `
  mutation GiveFeedback($input: SubmitFeedbackInput!) {
    submitFeedback(input: $input) { feedback { rating reason subject givenAt } userErrors { code message path } }
  }
`;

export const SOURCE_TEXT = /* GraphQL */ `
  query SourceText($id: ID!, $asOf: Int, $start: Int!, $end: Int!) {
    document(id: $id) {
      id title sourcePath mediaType fileName downloadPath size
      text(asOf: $asOf, start: $start, end: $end) { text start end characters pages { number start end } }
    }
  }
`;
