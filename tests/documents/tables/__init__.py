"""Figures asked of tables by row and column."""
