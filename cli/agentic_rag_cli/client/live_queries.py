"""GraphQL documents of what goes on: subscriptions and cancellations."""

from __future__ import annotations

from agentic_rag_cli.client.queries import ANSWERED, FAULTS

ASK_STREAM = f"""
subscription ($input: RagAnswerInput!) {{
  ragAnswerStream(input: $input) {{
    seq kind runId stage seconds outcome draft citation {{ marker title }} answer {{ {ANSWERED} }}
  }}
}}
"""

DOCUMENT_EVENTS = """
subscription ($workspaceId: ID!) {
  documentEvents(workspaceId: $workspaceId) {
    seq missed document { id sourcePath status chunkCount chunksDone error { code message } }
  }
}
"""

CANCEL_RUN = f"mutation ($id: ID!) {{ cancelRun(id: $id) {{ cancelled {FAULTS} }} }}"

CANCEL_JOB = f"mutation ($id: ID!) {{ cancelJob(id: $id) {{ outcome job {{ id kind state }} {FAULTS} }} }}"
