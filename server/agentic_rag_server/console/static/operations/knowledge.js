// Documents of a workspace.

export const DOCUMENT = /* GraphQL */ `
  fragment DocumentView on Document {
    id title sourcePath fileName mediaType size status chunkCount chunksDone createdAt updatedAt uploadedBy withdrawn
    downloadPath
    error { code message retryable attempts }
    unreadPages { count numbers pages unit }
    recognisedPages { count pages }
    leftOut { characters total }
    embedding { chunks tokens costUsd reusedChunks space }
    readableBy { users keys groups }
  }
`;

export const DOCUMENTS = /* GraphQL */ `
  ${DOCUMENT}
  query Documents($workspaceId: ID!, $after: String, $first: Int!, $statuses: [DocumentStatus!], $filter: DocumentFilterInput) {
    documents(workspaceId: $workspaceId, after: $after, first: $first, statuses: $statuses, filter: $filter) {
      nodes { ...DocumentView }
      pageInfo { hasNextPage endCursor }
    }
  }
`;

export const DOCUMENT_EVENTS = /* GraphQL */ `
  ${DOCUMENT}
  subscription DocumentEvents($workspaceId: ID!) {
    documentEvents(workspaceId: $workspaceId) { missed document { ...DocumentView } }
  }
`;

export const HAS_DOCUMENTS = /* GraphQL */ `
  query HasDocuments($workspaceId: ID!, $landmark: String!) {
    any: documents(workspaceId: $workspaceId, first: 1) { nodes { id } }
    sample: documents(workspaceId: $workspaceId, first: 1, filter: { sourcePathPrefix: $landmark }) {
      nodes { id status }
    }
    unready: documents(workspaceId: $workspaceId, first: 1, statuses: [PENDING, PROCESSING]) { nodes { id } }
  }
`;

export const WORKSPACE = /* GraphQL */ `
  query WorkspaceSettings($id: ID!) {
    workspace(id: $id) {
      id name kind corpusVersion createdAt externalRef readers writers
      settings {
        chunkProfile embeddingDimensions inlineGuidelines historyDays runsDays jobsDays auditDays usageDays
        ragConfig { topK similarityThreshold rerank }
        web { allow care recrawlHours profile }
      }
    }
  }
`;

export const UPDATE_WORKSPACE = /* GraphQL */ `
  mutation UpdateWorkspace($input: UpdateWorkspaceSettingsInput!) {
    updateWorkspaceSettings(input: $input) { workspace { id } userErrors { code message path } }
  }
`;

export const UPLOAD = /* GraphQL */ `
  mutation UploadFile($workspaceId: ID!, $file: Upload!, $sourcePath: String) {
    uploadDocument(workspaceId: $workspaceId, file: $file, sourcePath: $sourcePath) {
      document { id status } unchanged userErrors { code message path }
    }
  }
`;

export const ESTIMATE_UPLOAD = /* GraphQL */ `
  mutation EstimateUpload($workspaceId: ID!, $file: Upload!, $sourcePath: String) {
    estimateUpload(workspaceId: $workspaceId, file: $file, sourcePath: $sourcePath) {
      embedding { chunks tokens costUsd } errorCode errorMessage userErrors { code message path }
    }
  }
`;

export const REINGEST = /* GraphQL */ `
  mutation Reingest($id: ID!) {
    reingest(documentId: $id, force: true) { jobId userErrors { code message path } }
  }
`;

export const DELETE_DOCUMENT = /* GraphQL */ `
  mutation DeleteDocument($id: ID!) {
    deleteDocument(id: $id) {
      deletedId corpusVersion unfinished
      certificate { erasedAt complete corpusVersion stores { store count done } notCovered { place reason } }
      userErrors { code message path }
    }
  }
`;

export const WITHDRAW = /* GraphQL */ `
  mutation Withdraw($id: ID!) {
    withdrawDocument(id: $id) { document { id } userErrors { code message path } }
  }
`;

export const RESTORE = /* GraphQL */ `
  mutation Restore($id: ID!) {
    restoreDocument(id: $id) { document { id } userErrors { code message path } }
  }
`;

export const SOURCES = /* GraphQL */ `
  query Sources($workspaceId: ID!) {
    sources(workspaceId: $workspaceId) {
      id name kind location everySeconds startedAt syncedAt nextAt failures resting leaving errorCode errorMessage
      counts { total done new changed unchanged unreadable inProgress }
      documentCounts { ready pending failed }
      unreadable { path code message }
    }
  }
`;

export const SYNC = /* GraphQL */ `
  mutation SyncSource($id: ID!) {
    syncSource(id: $id) { jobId userErrors { code message path } }
  }
`;

export const ADD_SOURCE = /* GraphQL */ `
  mutation AddSource($input: AddSourceInput!) {
    addSource(input: $input) { source { id } userErrors { code message path } }
  }
`;

export const ESTIMATE_CRAWL = /* GraphQL */ `
  query EstimateCrawl($input: CrawlInput!) {
    estimateCrawl(input: $input) { pages size seconds tokens costUsd knownPages pagesLeft }
  }
`;

export const CRAWL = /* GraphQL */ `
  mutation Crawl($input: CrawlInput!) {
    crawl(input: $input) { jobId userErrors { code message path } }
  }
`;

export const KEYS_IN_HAND = /* GraphQL */ `
  query KeysInHand {
    modelSettings { mustBringKey defaultModel embedding }
    providerKeys { provider }
  }
`;
