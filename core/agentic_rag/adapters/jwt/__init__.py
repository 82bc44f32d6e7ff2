"""Tokens of an external issuer: their format, their signing keys and the identity they state."""
