"""The examples of docs/agents.md that need frameworks, run with their released versions."""
