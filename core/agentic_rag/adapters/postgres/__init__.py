"""Postgres: the source of truth."""
