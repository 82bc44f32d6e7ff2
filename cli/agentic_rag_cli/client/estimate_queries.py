"""GraphQL documents of estimates: what something would cost."""

from __future__ import annotations

ESTIMATE_ANSWER = """
query ($input: RagAnswerInput!) {
  estimateAnswer(input: $input) {
    cache inputTokens outputTokens tokens costUsd usage { stage calls inputTokens outputTokens tokens costUsd }
  }
}
"""

_EMBEDDING = "space chunks tokens reusedChunks costUsd"

ESTIMATE_UPLOAD = f"""
mutation ($workspaceId: ID!, $file: Upload!) {{
  estimateUpload(workspaceId: $workspaceId, file: $file) {{
    size mediaType embedding {{ {_EMBEDDING} }} errorCode errorMessage userErrors {{ code message path }}
  }}
}}
"""

ESTIMATE_SWITCH = f"""
query ($workspaceId: ID!, $to: String!) {{
  estimateEmbeddingSwitch(workspaceId: $workspaceId, to: $to) {{ {_EMBEDDING} }}
}}
"""
