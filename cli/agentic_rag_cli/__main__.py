"""Makes `python -m agentic_rag_cli` the same as `rag`; `rag up` starts its processes this way."""

from agentic_rag_cli.main import main

if __name__ == "__main__":
    main()
