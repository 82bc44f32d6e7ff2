"""Where support becomes too low to answer: a constant of its own, because settings show it and load nothing else."""

DEFAULT_THRESHOLD = 0.25
"""Below it a question counts as unsupported. Share of the answerable questions that abstain, with the local model: of
ten public sets 0 to 10 % (at most 3 of 30 questions); of the sample corpus none, and 8 % with the deterministic
embedder. Questions on a subject of the corpus without an answer in it are mostly answered at this line: it is drawn so
that nobody's corpus abstains too often. `rag eval calibrate` draws it for a workspace.
"""
