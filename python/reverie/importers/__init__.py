"""Importers of other programs' transcripts: lines to entries, entries to messages."""
