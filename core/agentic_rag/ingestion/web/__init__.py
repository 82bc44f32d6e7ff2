"""Pages of the web: searched for, fetched politely, and ingested as any other document."""
