"""The GraphQL documents of what callers keep: conversations, runs and saved questions."""

from __future__ import annotations

from agentic_rag_cli.client.queries import CITATION, FAULTS

_THREAD = "id title named turns beganAt lastAt"

THREADS = f"""
query ($workspaceId: ID!, $first: Int!, $after: String) {{
  threads(workspaceId: $workspaceId, first: $first, after: $after) {{
    nodes {{ {_THREAD} }} pageInfo {{ hasNextPage endCursor }}
  }}
}}
"""

LAST_THREAD = "query ($workspaceId: ID!) { threads(workspaceId: $workspaceId, first: 1) { nodes { id } } }"

THREAD = f"""
query ($id: ID!, $first: Int!, $after: String) {{
  thread(id: $id) {{
    {_THREAD}
    runs(first: $first, after: $after) {{
      pageInfo {{ hasNextPage endCursor }}
      nodes {{
        id question answer outcome createdAt degraded debug {{ standaloneQuestion }}
        abstention {{ reason explanation nearest {{ {CITATION} }} }} citations {{ {CITATION} }}
        outside {{ searches pages ready known pending partial refusals }}
      }}
    }}
  }}
}}
"""

RENAME_THREAD = f"""
mutation ($id: ID!, $title: String!) {{
  renameThread(id: $id, title: $title) {{ thread {{ {_THREAD} }} {FAULTS} }}
}}
"""

DELETE_THREAD = f"mutation ($id: ID!) {{ deleteThread(id: $id) {{ deletedId deletedRuns {FAULTS} }} }}"

DELETE_RUN = f"mutation ($id: ID!) {{ deleteRun(id: $id) {{ deletedId {FAULTS} }} }}"

_SAVED = "id question runId newerRunId state reason stage what removed added savedAt checkedAt"

SAVED_QUESTIONS = f"query ($workspaceId: ID!) {{ savedQuestions(workspaceId: $workspaceId) {{ {_SAVED} }} }}"

SAVE_QUESTION = f"""
mutation ($runId: ID!) {{ saveQuestion(runId: $runId) {{ saved {{ {_SAVED} }} {FAULTS} }} }}
"""

REMOVE_SAVED_QUESTION = f"mutation ($id: ID!) {{ removeSavedQuestion(id: $id) {{ removedId {FAULTS} }} }}"
