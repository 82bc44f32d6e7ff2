"""GraphQL documents of estimates: what something would cost."""

from __future__ import annotations

ESTIMATE_ANSWER = """
query ($input: RagAnswerInput!) {
  estimateAnswer(input: $input) {
    cached inputTokens outputTokens tokens costUsd usage { stage calls inputTokens outputTokens tokens costUsd }
  }
}
"""
