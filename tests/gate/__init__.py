"""What `make gate` measures: decisions about looking outside."""
