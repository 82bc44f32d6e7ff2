"""One file per command. Module imports are light; a command imports the rest when it runs."""
