"""OpenAI's API over the product's use cases: chat, responses, files and vector stores."""
