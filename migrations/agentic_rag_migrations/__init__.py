"""The schema of the product and how it is applied; SQL files and Alembic scripts travel in the wheel."""

HEAD = "0062"
"""The newest revision: what a database must be at for this version of the product."""
