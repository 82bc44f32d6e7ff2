"""How the reader of units is trained: packed here, trained where torch is, written here."""
