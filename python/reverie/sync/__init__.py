"""Two-way sync of a folder with the store: scan, reconcile, apply. Only scan and apply touch the disk."""
