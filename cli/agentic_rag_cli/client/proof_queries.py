"""GraphQL documents of proofs, replays and comparisons."""

from __future__ import annotations

from agentic_rag_cli.client.queries import CITATION, FAULTS

_CHECKED = f"""
holds checkedAt
run {{ id question answer outcome }}
checks {{
  marker state reason standsNow
  citation {{ {CITATION} }}
  certificate {{ corpusVersion erasedAt complete }}
}}
"""

VERIFY = f"query ($id: ID!) {{ verifyRun(id: $id) {{ {_CHECKED} }} }}"

PROVE = f"""
query ($id: ID!, $whole: Boolean!) {{
  proveRun(id: $id, whole: $whole) {{ fileName content key verification {{ {_CHECKED} }} }}
}}
"""

_RUN = f"id question answer outcome versions {{ corpusVersion }} citations {{ {CITATION} }}"

_COMPARED = f"""
same conversation differences {{ stage what before after }} kept removed added
before {{ {_RUN} }} after {{ {_RUN} }}
citationsRemoved {{ {CITATION} }} citationsAdded {{ {CITATION} }}
"""

REPLAY = f"""
mutation ($id: ID!, $newest: Boolean!) {{
  replayRun(id: $id, newest: $newest) {{ comparison {{ {_COMPARED} }} {FAULTS} }}
}}
"""

DIFF = (
    f"query ($runId: ID!, $laterRunId: ID!) {{ diffAnswers(runId: $runId, laterRunId: $laterRunId) {{ {_COMPARED} }} }}"
)
