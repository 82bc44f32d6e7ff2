"""What callers keep: conversations, and questions that are asked again."""
