"""Providers with OpenAI's HTTP interface: OpenAI itself, Gemini, vLLM, Ollama and others by base URL."""
