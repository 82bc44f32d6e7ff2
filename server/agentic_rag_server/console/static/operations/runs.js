// Stored runs.

import { RUN } from "./ask.js";

export const RUNS = /* GraphQL */ `
  query Runs($workspaceId: ID!, $after: String, $first: Int!, $filter: RunFilterInput) {
    runs(workspaceId: $workspaceId, after: $after, first: $first, filter: $filter) {
      totalCount
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

export const DELETE_RUN = /* GraphQL */ `
  mutation DeleteRun($id: ID!) {
    deleteRun(id: $id) { deletedId userErrors { code message path } }
  }
`;

export const VERIFY = /* GraphQL */ `
  query VerifyRun($id: ID!) {
    verifyRun(id: $id) { holds checkedAt checks { marker state reason standsNow citation { title } } }
  }
`;

export const PROVE = /* GraphQL */ `
  query ProveRun($id: ID!) {
    proveRun(id: $id) { content fileName }
  }
`;

export const REPLAY = /* GraphQL */ `
  mutation ReplayRun($id: ID!, $newest: Boolean!) {
    replayRun(id: $id, newest: $newest) {
      comparison { same conversation added removed kept after { id } differences { stage what before after } }
      userErrors { code message path }
    }
  }
`;
