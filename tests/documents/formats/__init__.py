"""Files of twenty formats with words that are known, and files that must be refused."""
