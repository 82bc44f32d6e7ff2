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
      byMode { ...Group }
      causes { cause runs }
    }
  }
  fragment Group on DecisionGroup {
    name runs share ratings satisfaction p50Seconds p95Seconds tokens costUsd unpricedRuns
  }
`;

export const GATE_EVALUATION = /* GraphQL */ `
  query GateEvaluation($workspaceId: ID!) {
    gateEvaluation(workspaceId: $workspaceId) {
      plan isOnTrial
      windows { last runs feedback satisfaction freshnessGain externalCalls costUsd p95Seconds precision fault }
      deploys { deploy runs p95Seconds isSlow }
      rollback { reason until }
    }
  }
`;

export const GATE_REPLAY = /* GraphQL */ `
  query GateReplay($workspaceId: ID!, $since: DateTime!) {
    gateReplay(workspaceId: $workspaceId, since: $since) {
      weightsVersion runs unreadable isComplete
      differences { runId decidedAt weightsVersion scoreBefore scoreAfter planBefore planAfter }
    }
  }
`;
