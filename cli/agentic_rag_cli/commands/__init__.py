"""One file per command; what they import is light, what they do imports the rest."""
