"""Search engines, a file each."""
