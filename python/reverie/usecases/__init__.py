"""Use cases: a snapshot is read, a plan is decided from it alone, and the plan is committed or refused as stale."""
