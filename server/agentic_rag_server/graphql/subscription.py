"""The root of subscriptions."""

import strawberry

from agentic_rag_server.graphql.answering.stream import AnswerSubscription
from agentic_rag_server.graphql.jobs.live import ChangeSubscription


@strawberry.type(description="Events, over graphql-transport-ws or as server-sent events.")
class Subscription(AnswerSubscription, ChangeSubscription):
    """All subscriptions."""
