// What administrators see and set.

export const USAGE = /* GraphQL */ `
  query Usage($from: Date!, $to: Date!, $workspaceId: ID!) {
    usage(from: $from, to: $to, workspaceId: $workspaceId) {
      costUsd unpricedCalls pricedOn
      lines { day provider model kind calls inputTokens outputTokens costUsd unpricedCalls ownKey }
    }
    budgets(workspaceId: $workspaceId) { scope period kind limitUsd spentUsd resetsAt }
    rateLimits { asks reads writes storedMegabytes }
  }
`;

export const SET_BUDGET = /* GraphQL */ `
  mutation SetBudget($input: SetBudgetInput!) {
    setBudget(input: $input) { changed userErrors { code message path } }
  }
`;

export const ACCESS = /* GraphQL */ `
  query Access($workspaceId: ID!) {
    apiKeys { id name subject role groups scopes createdAt expiresAt revokedAt lastUsedAt }
    workspace(id: $workspaceId) { id name readers writers }
  }
`;

export const CREATE_KEY = /* GraphQL */ `
  mutation CreateKey($input: CreateApiKeyInput!) {
    createApiKey(input: $input) { token apiKey { id name } userErrors { code message path } }
  }
`;

export const REVOKE_KEY = /* GraphQL */ `
  mutation RevokeKey($id: ID!) {
    revokeApiKey(id: $id) { apiKey { id } userErrors { code message path } }
  }
`;

export const SHARE_WORKSPACE = /* GraphQL */ `
  mutation ShareWorkspace($workspaceId: ID!, $readers: [String!], $writers: [String!]) {
    setWorkspaceAccess(workspaceId: $workspaceId, readers: $readers, writers: $writers) {
      workspace { id readers writers } userErrors { code message path }
    }
  }
`;

export const AUDIT = /* GraphQL */ `
  query Audit($after: String) {
    auditLog(first: 30, after: $after) {
      nodes { id createdAt actor action subject detail { name value } }
      pageInfo { hasNextPage endCursor }
    }
  }
`;

export const MODELS = /* GraphQL */ `
  query Models {
    modelSettings { mustBringKey defaultModel embedding }
    providerKeys { provider hint baseUrl setBy updatedAt }
    organisation { id name features { flag on } }
  }
`;

export const SET_KEY = /* GraphQL */ `
  mutation SetKey($input: SetProviderKeyInput!) {
    setProviderKey(input: $input) { providerKey { provider } userErrors { code message path } }
  }
`;

export const REMOVE_KEY = /* GraphQL */ `
  mutation RemoveKey($provider: ModelProvider!) {
    removeProviderKey(provider: $provider) { userErrors { code message path } }
  }
`;

export const SET_MODELS = /* GraphQL */ `
  mutation SetModels($input: UpdateModelSettingsInput!) {
    updateModelSettings(input: $input) { settings { defaultModel } userErrors { code message path } }
  }
`;

export const SET_FEATURE = /* GraphQL */ `
  mutation SetFeature($flag: FeatureFlag!, $on: Boolean!) {
    setFeature(flag: $flag, on: $on) { organisation { id } }
  }
`;

export const RENAME_WORKSPACE = /* GraphQL */ `
  mutation RenameWorkspace($workspaceId: ID!, $name: String!) {
    renameWorkspace(workspaceId: $workspaceId, name: $name) { workspace { id } userErrors { code message path } }
  }
`;

export const DELETE_WORKSPACE = /* GraphQL */ `
  mutation DeleteWorkspace($workspaceId: ID!, $confirmName: String!) {
    deleteWorkspace(workspaceId: $workspaceId, confirmName: $confirmName, cancelJobs: true) {
      erasure { complete } userErrors { code message path }
    }
  }
`;
