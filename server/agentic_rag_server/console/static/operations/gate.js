// The gate's state and decisions.

export const GATE = /* GraphQL */ `
  query Gate($workspaceId: ID!, $since: DateTime!) {
    gateStatus(workspaceId: $workspaceId) {
      mode care weightsVersion
      thresholds { name value }
      downgrades { reason }
    }
    gateReport(workspaceId: $workspaceId, since: $since) {
      runs isComplete
      total { runs }
      byPlan { ...Group }
      byIntent { ...Group }
      causes { cause runs }
    }
  }
  fragment Group on DecisionGroup {
    name runs share ratings satisfaction p50Seconds p95Seconds tokens costUsd unpricedRuns
  }
`;
