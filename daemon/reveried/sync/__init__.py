"""Two-way sync of the spaces' folders with the store: watching, scanning, committing and writing."""
