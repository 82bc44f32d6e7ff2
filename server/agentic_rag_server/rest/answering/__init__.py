"""Retrieved text over REST: searches and contexts."""
