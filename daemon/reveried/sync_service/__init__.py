"""Two-way sync of the spaces' folders with the store: watching, scanning, committing and writing."""

from reveried.sync_service.sync_calls_and_loops import SyncService

__all__ = ["SyncService"]
