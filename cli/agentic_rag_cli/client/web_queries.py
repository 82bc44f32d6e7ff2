"""GraphQL documents of the commands that ask the web, and of the reports by profile."""

from __future__ import annotations

from agentic_rag_cli.client.queries import FAULTS

SEARCH_WEB = f"""
mutation ($input: SearchWebInput!) {{
  searchWeb(input: $input) {{ results {{ url title snippet published }} searchesLeft pagesLeft {FAULTS} }}
}}
"""

CRAWL = f"mutation ($input: CrawlInput!) {{ crawl(input: $input) {{ jobId {FAULTS} }} }}"

ESTIMATE_CRAWL = """
query ($input: CrawlInput!) {
  estimateCrawl(input: $input) { pages size seconds tokens costUsd knownPages pagesLeft }
}
"""

CRAWL_PAGES = "query ($id: ID!) { crawlPages(id: $id) { url depth state code } }"

CRAWL_JOB = "query ($id: ID!) { job(id: $id) { state errorCode errorMessage } }"

WEB_BUDGETS = """
query ($workspaceId: ID!) { webBudgets(workspaceId: $workspaceId) { scope kind limit used resetsAt } }
"""

WEB_ACCESS = f"""
mutation ($input: UpdateWorkspaceSettingsInput!) {{
  updateWorkspaceSettings(input: $input) {{
    workspace {{ name settings {{ web {{ allow care recrawlHours profile seeds }} }} }} purgedCrawls {FAULTS}
  }}
}}
"""

ALLOW_ORGANISATION = """
mutation { setFeature(flag: WEB_ACCESS, on: true) { organisation { name } } }
"""

_PLACE = "documentId sourcePath start end line text"

MARKETING = f"""
query ($workspaceId: ID!, $brands: [String!]!, $since: DateTime) {{
  marketingReport(workspaceId: $workspaceId, brands: $brands, since: $since) {{
    documents diversity promotional undisclosed isComplete channels {{ name documents }}
    brands {{
      brand mentions documents share positive negative neutral otherLanguage
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
