"""The embedders of a process, one per embedding space, created on first use."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from agentic_rag.kernel.errors import InvalidInput, Permanent, SpaceMismatch
from agentic_rag.models.embedding.ports import Embedder
from agentic_rag.models.embedding.space import KNOWN_DIMENSIONS, EmbeddingSpace, SpaceChoice
from agentic_rag.models.providers.model_choice import require_current
from agentic_rag.tenancy.principals import WorkspaceRef


class EmbedderRegistry:
    """Implements `models.embedding.ports.Embedders`: the process's default embedder, and a factory for other spaces.

    `make` raises `SpaceMismatch` for a space that the settings have no embedder for. `keyless` maps the providers on
    this machine to the space that their name alone means.
    """

    def __init__(
        self,
        default: Embedder,
        make: Callable[[EmbeddingSpace], Embedder],
        keyless: Mapping[str, Callable[[], EmbeddingSpace]],
    ) -> None:
        self._default = default
        self._make = make
        self._keyless = keyless
        self._made: dict[EmbeddingSpace, Embedder] = {default.space: default}

    async def of(self, workspace: WorkspaceRef) -> EmbedderRegistry:
        """This registry, for every workspace."""
        return self

    async def admit(self, workspace: WorkspaceRef) -> None:
        """Admit all work: nothing is billed."""

    async def is_billed(self, workspace: WorkspaceRef) -> bool:
        """Nothing is."""
        return False

    @property
    def default(self) -> Embedder:
        """The embedder of a workspace without vectors."""
        return self._default

    def for_space(self, space: EmbeddingSpace) -> Embedder:
        """The embedder of a space. Errors: `SpaceMismatch`."""
        known = self._made.get(space)
        if known is None:
            known = self._made[space] = self._make(space)
        return known

    def resolve_space(self, choice: SpaceChoice) -> EmbeddingSpace:
        """The space that a user named. A model's dimensions come from the name, the settings or the known defaults.
        Errors: `InvalidInput` code SPACE_UNKNOWN; `Misconfigured` (a local model is missing).
        """
        keyless = self._keyless.get(choice.provider)
        if keyless is not None and choice.model is None:
            return keyless()
        model = choice.model or ""
        try:
            require_current(model)
        except Permanent as error:
            raise InvalidInput(error.message, code=error.code, path=("to",)) from error
        default = self._default.space
        if choice.dimensions is None and (default.provider, default.model) == (choice.provider, model):
            return default
        dimensions = choice.dimensions or KNOWN_DIMENSIONS.get(model)
        if dimensions is None:
            raise InvalidInput(
                f"How many dimensions {model!r} has is not known: write `{choice.provider}:{model}:DIMENSIONS`.",
                code="SPACE_UNKNOWN",
                path=("to",),
            )
        return EmbeddingSpace(choice.provider, model, dimensions)


def only(embedder: Embedder) -> EmbedderRegistry:
    """A registry with a single space."""

    def refuse(space: EmbeddingSpace) -> Embedder:
        raise SpaceMismatch(
            f"This process embeds with {embedder.space.name} only, not with {space.name}. Configure RAG_EMBEDDER, or "
            "switch the workspace."
        )

    return EmbedderRegistry(embedder, refuse, {embedder.space.provider: lambda: embedder.space})
