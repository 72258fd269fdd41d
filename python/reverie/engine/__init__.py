"""Use cases: snapshot, decide, commit."""
