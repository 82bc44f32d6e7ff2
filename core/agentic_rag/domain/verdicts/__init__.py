"""Verdicts on comparisons and yes/no questions, worked out by rule from the sentences that prove them."""
