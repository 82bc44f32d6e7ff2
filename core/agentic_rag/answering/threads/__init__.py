"""Conversations of one subject: kept, found again, renamed, deleted."""
