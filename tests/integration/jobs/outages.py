"""What stands in the place of a dependency that is away."""

from agentic_rag.kernel.errors import DependencyUnavailable


async def no_bucket(*_: object) -> None:
    """In the place of a use of the blob store. Errors: `DependencyUnavailable`."""
    raise DependencyUnavailable("The bucket does not answer.", dependency="blobs")
