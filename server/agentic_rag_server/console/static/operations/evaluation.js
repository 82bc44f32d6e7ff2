// Evaluations of a workspace, and the line below which it abstains.

export const EVALUATIONS = /* GraphQL */ `
  query Evaluations($workspaceId: ID!, $after: String) {
    jobs(workspaceId: $workspaceId, kinds: [EVAL], first: 10, after: $after) {
      nodes { id }
      pageInfo { hasNextPage endCursor }
    }
  }
`;

export const EVALUATION = /* GraphQL */ `
  query Evaluation($jobId: ID!) {
    evalRun(jobId: $jobId) {
      jobId dataset k questions answered createdAt
      figures { name mean low high questions }
      job { state errorMessage }
    }
  }
`;

export const EVALUATION_REPORT = /* GraphQL */ `
  query EvaluationReport($jobId: ID!) {
    evalRun(jobId: $jobId) { report }
  }
`;

export const CALIBRATED = /* GraphQL */ `
  fragment CalibrationView on Calibration {
    chunks error measuredAt source space inForce
    pooled { threshold questions abstained low high bound }
    kinds { kind threshold questions abstained low high bound }
  }
`;

export const CALIBRATION = /* GraphQL */ `
  ${CALIBRATED}
  query Calibration($id: ID!) {
    workspace(id: $id) {
      calibration { ...CalibrationView }
      calibrationTrial { ...CalibrationView }
    }
  }
`;

export const CALIBRATE = /* GraphQL */ `
  mutation Calibrate($workspaceId: ID!, $error: Float!, $dryRun: Boolean!) {
    calibrate(workspaceId: $workspaceId, error: $error, dryRun: $dryRun) { job { id } userErrors { code message path } }
  }
`;

export const RESET_CALIBRATION = /* GraphQL */ `
  mutation ResetCalibration($workspaceId: ID!) {
    resetCalibration(workspaceId: $workspaceId) { userErrors { code message path } }
  }
`;
