"""Redis: the queue of job ids, cached answers, rate limits and HyDE passages. Losing it loses no data."""
