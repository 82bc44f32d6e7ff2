"""The root of subscriptions."""

import strawberry

from agentic_rag_server.graphql.answering.stream import AnswerSubscription


@strawberry.type(description="Events, over graphql-transport-ws or as server-sent events.")
class Subscription(AnswerSubscription):
    """All subscriptions."""
