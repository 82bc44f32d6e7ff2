"""What the product must keep to the last byte while its files move."""
