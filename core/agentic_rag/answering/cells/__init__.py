"""Cells of tables that questions name by row and column."""
