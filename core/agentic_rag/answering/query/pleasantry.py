"""Greetings, thanks and the like: nothing that documents could answer."""

from __future__ import annotations

import re

_PLEASANTRY = (
    r"(?:hi|hello|hey|good (?:morning|afternoon|evening|day)|thanks?(?: you)?(?: (?:so|very) much)?|thx|cheers|bye|"
    r"goodbye|ok(?:ay)?|great|nice|cool|how are you(?: (?:doing|today))*|who are you|what can you do|tell me a joke)"
)
_GREETING = re.compile(
    rf"^{_PLEASANTRY}(?:[ ,!.?]+(?:{_PLEASANTRY}|there|all|everyone|again|you|for .{{0,30}}))*[ !.?]*$", re.IGNORECASE
)


def is_pleasantry(question: str) -> bool:
    """True for a greeting, thanks and the like."""
    return _GREETING.match(question) is not None
