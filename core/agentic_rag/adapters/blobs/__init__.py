"""Stores of original bytes."""
