"""Sentence embeddings computed here, by onnxruntime: no key and no server."""
