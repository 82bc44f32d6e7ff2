"""What `make context` measures: retrieved text, and those who read it."""
