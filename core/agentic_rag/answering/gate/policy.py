"""Who lets a run look outside: the organisation, the workspace and the request, each of which may only narrow."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WebPolicy:
    """Whether the web may be asked. Off everywhere unless each level says otherwise."""

    organisation: bool = False
    workspace: bool = False
    request: bool | None = None
    """`options.allowWeb`. None: as the workspace has it. True asks for the web, and widens nothing."""

    @property
    def refused_by(self) -> str | None:
        """The widest level that refuses; None where all allow."""
        if not self.organisation:
            return "organisation"
        if not self.workspace:
            return "workspace"
        return "request" if self.request is False else None

    @property
    def level(self) -> float:
        """0 refused, 0.5 allowed, 1 allowed and asked for."""
        if self.refused_by is not None:
            return 0.0
        return 1.0 if self.request else 0.5
