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
from reverie.store.kinds import RULES as RULES
from reverie.store.kinds import SYSTEM_SPACE as SYSTEM_SPACE
from reverie.store.kinds import THREAD_KINDS as THREAD_KINDS
from reverie.store.kinds import Key as Key
from reverie.store.kinds import Kind as Kind
from reverie.store.memory_records import *
from reverie.store.reader import Reader as Reader
from reverie.store.reader import Version as Version
from reverie.store.records import ChangeRecord as ChangeRecord
from reverie.store.records import EventRecord as EventRecord
from reverie.store.records import FailureRecord as FailureRecord
from reverie.store.records import IdempotencyRecord as IdempotencyRecord
from reverie.store.records import OperationRecord as OperationRecord
from reverie.store.records import StoredRecord as StoredRecord
from reverie.store.records import open_sealed_as as open_sealed_as
from reverie.store.records import seal_record as seal_record
from reverie.store.space_records import *
from reverie.store.store import Store as Store
from reverie.store.thread_records import *
from reverie.store.transactions import Snapshot as Snapshot
from reverie.store.writer import Writer as Writer
