"""The GraphQL interface. Modules of its types do not postpone annotations: Strawberry would parse each from text."""
