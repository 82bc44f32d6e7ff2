"""Adapters that keep everything in the process: the reference in the contract suites, and real enough for tests of use cases."""
