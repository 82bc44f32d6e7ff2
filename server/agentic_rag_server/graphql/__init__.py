"""The GraphQL interface."""
