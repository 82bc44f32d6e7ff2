"""What the reader of PDF files is made of."""
