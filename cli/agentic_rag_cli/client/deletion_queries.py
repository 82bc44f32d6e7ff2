"""The GraphQL documents that delete workspaces and organisations; as `queries`."""

from __future__ import annotations

_ERRORS = "userErrors { code message path }"

_ERASURE = (
    "subject requestedBy requestedAt finishedAt complete stores { store count } kept { place reason } "
    "notCovered { place reason }"
)

DELETE_WORKSPACE = f"""
mutation ($workspaceId: ID!, $name: String!, $cancelJobs: Boolean!) {{
  deleteWorkspace(workspaceId: $workspaceId, confirmName: $name, cancelJobs: $cancelJobs) {{
    erasure {{ {_ERASURE} }} {_ERRORS}
  }}
}}
"""

WORKSPACE_ERASURES = f"query {{ workspaceErasures {{ {_ERASURE} }} }}"

PROVE_WORKSPACE_ERASED = f"""
query ($workspaceId: ID!) {{
  proveWorkspaceErased(workspaceId: $workspaceId) {{
    erased erasure {{ {_ERASURE} }} findings {{ store kind severity message remedy }}
  }}
}}
"""

_ORGANISATION = "id name externalRef createdAt"

ORGANISATION = f"query {{ organisation {{ {_ORGANISATION} }} }}"

RENAME_ORGANISATION = f"""
mutation ($name: String!) {{
  renameOrganisation(name: $name) {{ organisation {{ {_ORGANISATION} }} {_ERRORS} }}
}}
"""

DELETE_ORGANISATION = f"""
mutation ($name: String!, $cancelJobs: Boolean!) {{
  deleteOrganisation(confirmName: $name, cancelJobs: $cancelJobs) {{ erasure {{ {_ERASURE} }} {_ERRORS} }}
}}
"""
