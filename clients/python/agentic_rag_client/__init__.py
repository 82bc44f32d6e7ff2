"""Client of agentic-rag: project knowledge for agents, passages, answers with verified citations."""

from agentic_rag_client.async_client import AsyncRagClient
from agentic_rag_client.client import RagClient
from agentic_rag_client.errors import RagError
from agentic_rag_client.prompt import AgentContext
from agentic_rag_client.retry import RetryPolicy
from agentic_rag_client.values import (
    Abstention,
    Answer,
    Citation,
    ContextSource,
    DocumentText,
    Passage,
    PromptContext,
    SearchResult,
    Span,
    Turn,
    Upload,
)

__all__ = [
    "Abstention",
    "AgentContext",
    "Answer",
    "AsyncRagClient",
    "Citation",
    "ContextSource",
    "DocumentText",
    "Passage",
    "PromptContext",
    "RagClient",
    "RagError",
    "RetryPolicy",
    "SearchResult",
    "Span",
    "Turn",
    "Upload",
]
