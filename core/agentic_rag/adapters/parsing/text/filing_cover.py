"""What the cover page of a company's filing says it is: who files it, on which form, for which period.

The cover of forms 10-Q, 10-K, 20-F and their like is prescribed (17 CFR 249.308a and neighbours): the words looked for
here are part of the form itself.
"""

from __future__ import annotations

import re

_COVER = 6_000
"""Characters from the start in which a cover states all of it."""
_LONGEST_NAME = 100
_FORM = re.compile(r"^\W*form\s+(\d{1,2}-[A-Z]{1,2}(?:/A)?)\W*$", re.IGNORECASE | re.MULTILINE)
_PERIOD = re.compile(
    r"\bfor the ((?:quarterly period|fiscal quarter|quarter|fiscal year|year|six months|half[- ]year) ended)\s*:?\s*"
    r"([A-Z][a-z]{2,8}\.? \d{1,2}, \d{4}|\d{1,2} [A-Z][a-z]{2,8} \d{4})",
    re.IGNORECASE,
)
_REGISTRANT = re.compile(
    r"^[^\S\n]*(\S[^\n]*?)[\s_]*\n[^\S\n]*\(exact name of registrant\b", re.IGNORECASE | re.MULTILINE
)


def filing_title(text: str, stem: str) -> str | None:
    """ "Harbour Inc. Form 10-Q, quarterly period ended June 30, 2023 (2023-Q2-HRB)" from the text of a filing and the
    name of its file without extension; None for any other text.
    """
    cover = text[:_COVER]
    form, period, registrant = _FORM.search(cover), _PERIOD.search(cover), _REGISTRANT.search(cover)
    if form is None or period is None or registrant is None:
        return None
    name = registrant[1].strip(" _")
    if not 1 < len(name) <= _LONGEST_NAME:
        return None
    title = f"{name} Form {form[1].upper()}, {period[1].lower()} {period[2]}"
    return f"{title} ({stem})" if stem else title
