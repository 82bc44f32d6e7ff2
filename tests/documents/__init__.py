"""What is read of documents, measured from outside."""
