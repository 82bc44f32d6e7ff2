"""GraphQL documents of `rag gate`, `rag report` and `rag run rate`."""

from __future__ import annotations

from agentic_rag_cli.client.queries import FAULTS

_DECISION = """
planType planned intent score mode weightsVersion
thresholds { name value }
contributions { name value weight contribution }
downgrades { before: from after: to cause reason }
counterfactuals { plan threshold distance explanation changes { name value needed bound } }
"""

RUN_DECISION = f"query ($id: ID!) {{ run(id: $id) {{ id question gate {{ {_DECISION} }} }} }}"

DRY_RUN = f"""
query ($input: RagAnswerInput!) {{ gateDecision(input: $input) {{ decision {{ {_DECISION} }} {FAULTS} }} }}
"""

STATUS = """
query ($workspaceId: ID!) {
  gateStatus(workspaceId: $workspaceId) {
    mode weightsVersion care thresholds { name value } downgrades { before: from after: to cause reason }
  }
}
"""

_GROUP = "name runs share p50Seconds p95Seconds hitRate costUsd unpricedRuns tokens ratings satisfaction precision"

REPORT = f"""
query ($workspaceId: ID!, $since: DateTime!, $mode: JudgingMode) {{
  gateReport(workspaceId: $workspaceId, since: $since, mode: $mode) {{
    runs isComplete total {{ {_GROUP} }} byPlan {{ {_GROUP} }} byIntent {{ {_GROUP} }} byVersion {{ {_GROUP} }}
    byMode {{ {_GROUP} }}
    causes {{ cause runs }}
  }}
}}
"""

REPLAY = """
query ($workspaceId: ID!, $since: DateTime!) {
  gateReplay(workspaceId: $workspaceId, since: $since) {
    weightsVersion runs unreadable isComplete
    differences { runId decidedAt weightsVersion scoreBefore scoreAfter planBefore planAfter }
  }
}
"""

_EVALUATION = """
plan isOnTrial
windows {
  first last runs feedback satisfaction freshnessGain externalCalls costUsd p95Seconds precision fault
}
deploys { deploy runs p95Seconds isSlow }
rollback { cause reason beganAt until deploy }
"""

EVALUATION = f"query ($workspaceId: ID!) {{ gateEvaluation(workspaceId: $workspaceId) {{ {_EVALUATION} }} }}"

USAGE_OF_WORKSPACE = """
query ($from: Date!, $to: Date!, $workspaceId: ID!) {
  usage(from: $from, to: $to, workspaceId: $workspaceId) { costUsd unpricedCalls pricedOn }
}
"""

CASES = """
query ($workspaceId: ID!, $since: DateTime!) {
  gateCases(workspaceId: $workspaceId, since: $since) {
    runId at signals { name value } answered answeredOutside
  }
}
"""

CITED_CHUNKS = "query ($id: ID!) { run(id: $id) { citations { marker chunkId } } }"

SUBMIT_FEEDBACK = f"""
mutation ($input: SubmitFeedbackInput!) {{
  submitFeedback(input: $input) {{
    feedback {{ runId subject givenAt rating reason taskOutcome chunkIds precision }} {FAULTS}
  }}
}}
"""
