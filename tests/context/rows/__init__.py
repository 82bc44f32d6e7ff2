"""Rows of `make context`: a module lists its measures by name in `ROWS`."""
