"""Retrieved text for whoever may read it: passages of a search, and prompt sections made of them."""
