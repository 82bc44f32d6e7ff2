// Stored runs.

import { RUN } from "./ask.js";

export const RUNS = /* GraphQL */ `
  query Runs($workspaceId: ID!, $after: String, $first: Int!) {
    runs(workspaceId: $workspaceId, after: $after, first: $first) {
      nodes { id question outcome seconds createdAt subject cache feedback { rating } }
      pageInfo { hasNextPage endCursor }
    }
  }
`;

export const ONE_RUN = /* GraphQL */ `
  ${RUN}
  query OneRun($id: ID!) {
    run(id: $id) { ...RunView }
  }
`;
