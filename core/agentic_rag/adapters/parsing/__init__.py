"""Reads text and structure out of files, in a child process with limits."""
