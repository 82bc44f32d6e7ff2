"""The tools, a file for each kind of work."""
