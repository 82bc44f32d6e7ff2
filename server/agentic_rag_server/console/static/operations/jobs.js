// Work of the data plane.

export const JOB = /* GraphQL */ `
  fragment JobView on Job {
    id kind kindName state progress queue createdAt updatedAt runAfter attempts errorCode errorMessage
    document { id title }
    queuePlace { before estimatedSeconds }
  }
`;

export const JOBS = /* GraphQL */ `
  ${JOB}
  query Jobs($workspaceId: ID!, $after: String, $first: Int!, $states: [JobState!]) {
    jobs(workspaceId: $workspaceId, after: $after, first: $first, states: $states) {
      nodes { ...JobView }
      pageInfo { hasNextPage endCursor }
    }
  }
`;

export const JOB_EVENTS = /* GraphQL */ `
  ${JOB}
  subscription JobEvents($workspaceId: ID!) {
    jobEvents(workspaceId: $workspaceId) { missed job { ...JobView } }
  }
`;

export const ATTEMPTS = /* GraphQL */ `
  query Attempts($id: ID!) {
    job(id: $id) {
      id arguments { name value } traceId
      attemptHistory { attempt startedAt endedAt outcome errorCode errorChain worker }
    }
  }
`;

export const REPLAY = /* GraphQL */ `
  mutation ReplayDeadLetter($id: ID!) {
    replayDeadLetter(id: $id) { replayed outcome userErrors { code message path } }
  }
`;

export const PURGE = /* GraphQL */ `
  mutation PurgeDeadLetter($id: ID!) {
    purgeDeadLetter(id: $id) { userErrors { code message path } }
  }
`;

export const WORKERS = /* GraphQL */ `
  query Workers {
    workers { name host pid seenAt startedAt endedAt slots version }
  }
`;
