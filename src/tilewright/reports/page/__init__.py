"""One HTML page, or its text, about records: one sentence first, then bars, rungs that open, facts, and the data."""
