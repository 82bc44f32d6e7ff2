"""Plain HTTP: originals, health, metrics."""
