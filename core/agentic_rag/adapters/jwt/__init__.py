"""Tokens that somebody else issues: their form, the keys that signed them, and who they speak of."""
