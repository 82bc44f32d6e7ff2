"""The server process of the bench: `python -m tests.bench.server_process PORT`, configured by the environment like
`rag serve`.
"""

from __future__ import annotations

import sys

from agentic_rag.settings import load_settings
from agentic_rag_server.main import run_server

if __name__ == "__main__":
    run_server(load_settings(overrides={"AGENTIC_RAG_PORT": sys.argv[1]}))
