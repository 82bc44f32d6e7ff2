"""Where support becomes too low to answer: a constant of its own, because settings show it and load nothing else."""

DEFAULT_THRESHOLD = 0.31
"""Below it a part counts as unsupported. With the deterministic embedder, share of the answerable / the unanswerable
questions that abstain: sample corpus 10 / 79 % (n = 51 / 14), Wikipedia passages with search questions 13 / 48 %
(120 / 120), biomedical articles 2 / 45 % (117 / 123), abstracts 5 / 75 % (105 / 95), two-hop questions 10 / 65 %
(20 / 20); articles and abstracts with questions not looked at before: 4 / 42 % (179 / 207) and 5 / 84 % (101 / 99).
Unanswerable: written so, or the passages that answer left out. The scale differs by corpus and embedder: 0.36 would
cost the sample corpus 22 % and the abstracts 10 %. A workspace may calibrate its own.
"""
