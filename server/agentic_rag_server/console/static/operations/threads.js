// Conversations of the caller.

import { RUN } from "./ask.js";

export const THREADS = /* GraphQL */ `
  query Threads($workspaceId: ID!, $after: String) {
    threads(workspaceId: $workspaceId, first: 30, after: $after) {
      nodes { id title turns lastAt }
      pageInfo { hasNextPage endCursor }
    }
  }
`;

export const THREAD = /* GraphQL */ `
  ${RUN}
  query Thread($id: ID!, $after: String) {
    thread(id: $id) {
      id title workspaceId
      runs(first: 10, after: $after) { nodes { ...RunView } pageInfo { hasNextPage endCursor } }
    }
  }
`;

export const RENAME_THREAD = /* GraphQL */ `
  mutation RenameThread($id: ID!, $title: String!) {
    renameThread(id: $id, title: $title) { thread { id title } userErrors { code message path } }
  }
`;

export const DELETE_THREAD = /* GraphQL */ `
  mutation DeleteThread($id: ID!) {
    deleteThread(id: $id) { deletedId deletedRuns userErrors { code message path } }
  }
`;
