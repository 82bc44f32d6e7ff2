"""Places documents come from."""
