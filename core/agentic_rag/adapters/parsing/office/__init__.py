"""What the readers of office files share: packages of XML, and what stands in their parts."""
