"""`python -m agentic_rag_cli` is `rag`; the processes that `rag up` starts are called this way."""

from agentic_rag_cli.main import main

if __name__ == "__main__":
    main()
