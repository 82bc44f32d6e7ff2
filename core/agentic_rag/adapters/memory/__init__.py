"""Adapters that keep everything in this process: real ones, and the reference in the contract suites."""
