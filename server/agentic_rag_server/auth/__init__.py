"""From a request's credential to a principal, and what a principal may do."""
