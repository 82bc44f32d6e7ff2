"""`make console`: the console in a real browser, and what is marked on pages."""
