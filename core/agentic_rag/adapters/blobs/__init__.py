"""Keepers of original bytes."""
