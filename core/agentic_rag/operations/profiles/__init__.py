"""What a workspace's profile wants to know of its texts: voice, tone, channels and disclosures; staleness of code."""
