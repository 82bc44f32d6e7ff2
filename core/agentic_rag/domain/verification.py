"""Findings: what a check of the stores against each other found, and what to do about it."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Severity(enum.Enum):
    """How bad a finding is. Only errors make a check fail."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it should be. `kind` is stable; `subject` names what it is about."""

    store: str
    kind: str
    severity: Severity
    subject: str
    message: str
    remedy: str
