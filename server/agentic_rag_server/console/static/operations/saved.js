// Questions that are asked again after each publish.

export const SAVED = /* GraphQL */ `
  query Saved($workspaceId: ID!) {
    savedQuestions(workspaceId: $workspaceId) {
      id question runId newerRunId state reason stage what removed added savedAt checkedAt
    }
  }
`;

export const CHANGED = /* GraphQL */ `
  query Changed($workspaceId: ID!) {
    savedQuestions(workspaceId: $workspaceId) { state }
  }
`;

export const SAVE_QUESTION = /* GraphQL */ `
  mutation SaveQuestion($runId: ID!) {
    saveQuestion(runId: $runId) { saved { id question } userErrors { code message path } }
  }
`;

export const REMOVE_SAVED = /* GraphQL */ `
  mutation RemoveSaved($id: ID!) {
    removeSavedQuestion(id: $id) { removedId userErrors { code message path } }
  }
`;

export const DIFF = /* GraphQL */ `
  query Diff($runId: ID!, $laterRunId: ID!) {
    diffAnswers(runId: $runId, laterRunId: $laterRunId) { removed added }
  }
`;
