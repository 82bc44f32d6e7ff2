"""A query page that needs nothing but this server."""
