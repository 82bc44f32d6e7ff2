"""A process that starts a stack, says so, and holds it until its standard input ends."""

import sys
from pathlib import Path

from agentic_rag.embedded.stack import EmbeddedStack


def main() -> None:
    with EmbeddedStack(Path(sys.argv[1])) as stack:
        role = "owner" if stack.postgres.is_owner else "guest"
        print(role, stack.database_url, stack.redis_url, flush=True)
        sys.stdin.read()


main()
