"""Hostile and odd files, made by script when a test asks for them: no binary lies in the repository."""

from tests.hostile.cases import Hostile, hostile_files

__all__ = ["Hostile", "hostile_files"]
