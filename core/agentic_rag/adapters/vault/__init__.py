"""Envelope encryption of provider keys."""
