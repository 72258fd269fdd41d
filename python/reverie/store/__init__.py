"""The store: spaces in LMDB, checksummed typed records, a log of operations, group commit."""

from reverie.store.cache import RecordCache as RecordCache
from reverie.store.codec import Redactor as Redactor
from reverie.store.codec import Sealed as Sealed
from reverie.store.codec import open_sealed as open_sealed
from reverie.store.codec import seal as seal
from reverie.store.codec import to_ms as to_ms
from reverie.store.commit import Done as Done
from reverie.store.commit import Failed as Failed
from reverie.store.commit import Write as Write
from reverie.store.guard import StoreLock as StoreLock
from reverie.store.guard import needs_check as needs_check
from reverie.store.guard import truncated_at as truncated_at
from reverie.store.kinds import *
from reverie.store.memory_records import *
from reverie.store.reader import Reader as Reader
from reverie.store.reader import Version as Version
from reverie.store.records import *
from reverie.store.space_records import *
from reverie.store.store import Store as Store
from reverie.store.thread_records import *
from reverie.store.transactions import Snapshot as Snapshot
from reverie.store.writer import Writer as Writer
