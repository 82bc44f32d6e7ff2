"""The English words of a claim that say nothing by themselves."""

from __future__ import annotations

FUNCTION = (
    r"the|an?|of|to|in|on|at|by|for|from|with|and|or|that|this|these|those|is|are|was|were|be|been|being|has|have|had|"
    r"it|its|there|as|s|shall|must|may|will|would|can|could|should|he|she|they|his|her|their|who|which|whose|where|"
    r"when|than|then|into|about|not|no|but|also|does|did|do"
)
"""A regular expression. "Only", "each" and "any" are none of them: they say how many."""
