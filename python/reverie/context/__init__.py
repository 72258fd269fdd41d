"""Assembly of a thread's tiers into one request fragment under a token budget."""
