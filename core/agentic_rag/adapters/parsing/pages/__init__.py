"""Web pages: which of their blocks are the main content, and what they say of themselves."""
