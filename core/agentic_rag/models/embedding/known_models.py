"""What is known of providers' embedding models."""

from __future__ import annotations

from collections.abc import Mapping

KNOWN_DIMENSIONS: Mapping[str, int] = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
    "gemini-embedding-001": 3072,
}
"""Default dimensions of these models (the providers' documentation)."""
