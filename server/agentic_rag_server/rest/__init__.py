"""REST: uploads, documents, guidelines, health, metrics."""
