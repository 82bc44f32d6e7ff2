"""The gate: whether a run may read the corpus, and whether what it found is worth a look outside."""
