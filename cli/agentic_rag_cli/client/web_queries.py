"""GraphQL documents of the commands that ask the web."""

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
