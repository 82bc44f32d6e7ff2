"""GraphQL documents of `rag report marketing` and `rag report code`."""

from __future__ import annotations

_PLACE = "documentId sourcePath start end line text"

MARKETING = f"""
query ($workspaceId: ID!, $brands: [String!]!, $since: DateTime) {{
  marketingReport(workspaceId: $workspaceId, brands: $brands, since: $since) {{
    documents diversity promotional undisclosed isComplete channels {{ name documents }}
    brands {{
      brand mentions documents share positive negative neutral
      sentences {{ compound words place {{ {_PLACE} }} }}
    }}
    disclosures {{ promotion {{ {_PLACE} }} label {{ {_PLACE} }} }}
  }}
}}
"""

CODE = f"""
query ($workspaceId: ID!) {{
  codeReport(workspaceId: $workspaceId) {{
    files lines marks density packages drifts testCases failures unread isComplete
    leftOver {{ symbol place {{ {_PLACE} }} }}
    drift {{ kind package used stated usedAt {{ {_PLACE} }} statedAt {{ {_PLACE} }} }}
    failed {{ name place {{ {_PLACE} }} }}
  }}
}}
"""
