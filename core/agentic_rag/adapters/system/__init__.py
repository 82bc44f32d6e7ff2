"""The operating system's clock and randomness, behind ports."""
