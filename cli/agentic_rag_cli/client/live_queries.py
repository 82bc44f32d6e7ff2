"""GraphQL documents of subscriptions."""

from __future__ import annotations

from agentic_rag_cli.client.queries import ANSWERED

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
