"""agentic-rag: answers over an organisation's own documents, each sentence with a verified citation."""

__version__ = "0.1.0"
