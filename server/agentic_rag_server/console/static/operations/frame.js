// What every screen needs.

export const FRAME = /* GraphQL */ `
  query Frame {
    caller { subject role scopes allowed }
    organisation { id name features { flag on } }
    workspaces { id name kind }
  }
`;

export const CREATE_WORKSPACE = /* GraphQL */ `
  mutation CreateWorkspace($input: CreateWorkspaceInput!) {
    createWorkspace(input: $input) { workspace { id name } userErrors { code message path } }
  }
`;
