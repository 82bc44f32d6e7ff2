"""The GraphQL documents that delete documents, workspaces and organisations; as `queries`."""

from __future__ import annotations

from agentic_rag_cli.client.queries import FAULTS

_ERASURE = (
    "subject requestedBy requestedAt finishedAt complete stores { store count } kept { place reason } "
    "notCovered { place reason }"
)

DELETE_WORKSPACE = f"""
mutation ($workspaceId: ID!, $name: String!, $cancelJobs: Boolean!) {{
  deleteWorkspace(workspaceId: $workspaceId, confirmName: $name, cancelJobs: $cancelJobs) {{
    erasure {{ {_ERASURE} }} {FAULTS}
  }}
}}
"""

WORKSPACE_ERASURES = f"query {{ workspaceErasures {{ {_ERASURE} }} }}"

_PROOF = f"erased erasure {{ {_ERASURE} }} findings {{ store kind severity message remedy }}"

PROVE_WORKSPACE_ERASED = f"""
query ($workspaceId: ID!) {{ proveWorkspaceErased(workspaceId: $workspaceId) {{ {_PROOF} }} }}
"""

PROVE_TENANT_ERASED = f"""
query ($id: ID!) {{ proveTenantErased(id: $id) {{ {_PROOF} workspaces {{ {_ERASURE} }} }} }}
"""

_ORGANISATION = "id name externalRef createdAt"

ORGANISATION = f"query {{ organisation {{ {_ORGANISATION} }} }}"

RENAME_ORGANISATION = f"""
mutation ($name: String!) {{
  renameOrganisation(name: $name) {{ organisation {{ {_ORGANISATION} }} {FAULTS} }}
}}
"""

DELETE_ORGANISATION = f"""
mutation ($name: String!, $cancelJobs: Boolean!) {{
  deleteOrganisation(confirmName: $name, cancelJobs: $cancelJobs) {{ erasure {{ {_ERASURE} }} {FAULTS} }}
}}
"""

_CERTIFICATE = """
{ corpusVersion erasedAt complete stores { store count done } notCovered { place reason takenAt } }
"""

DELETE = f"""
mutation ($id: ID!) {{
  deleteDocument(id: $id) {{
    corpusVersion unfinished certificate {_CERTIFICATE}
    removed: erased {{
      revisions chunks vectors postings mentions entities staged runs_redacted: runsRedacted
      jobs_redacted: jobsRedacted cache_entries: cacheEntries blobs
    }}
    {FAULTS}
  }}
}}
"""

DOCUMENT_ID = """
query ($workspaceId: ID!, $sourcePath: String!) { documentId(workspaceId: $workspaceId, sourcePath: $sourcePath) }
"""

PROVE_ERASED = f"""
query ($id: ID!) {{
  proveErased(documentId: $id) {{
    erased certificate {_CERTIFICATE} pastCertificates {_CERTIFICATE}
    findings {{ store kind severity subject message remedy }}
  }}
}}
"""
