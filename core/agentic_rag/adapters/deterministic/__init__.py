"""Adapters that need no server and no key: the same input gives the same output on every machine."""
