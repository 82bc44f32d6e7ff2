"""What an answer would cost, before a provider is called."""
