"""From a thread to what must survive of it: working state, structured summary, passages, memories, digest."""
