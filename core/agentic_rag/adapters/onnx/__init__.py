"""Sentence embeddings computed locally by onnxruntime, without a key or a server."""
