"""The console: pages for people, and how they sign in."""
