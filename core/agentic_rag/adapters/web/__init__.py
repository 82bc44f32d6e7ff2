"""The only outbound path for pages that users name, with address checks."""
