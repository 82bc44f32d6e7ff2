"""The one way out: pages that users name, fetched under guard."""
