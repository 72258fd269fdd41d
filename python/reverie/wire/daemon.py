"""Health, status, backups and jobs of the daemon."""

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, field

from reverie.models import Json
from reverie.wire.base import Reply, Request
from reverie.wire.documents import SyncStatus
from reverie.wire.dreams import DreamRecord, Schedule

__all__ = [
    "BackupMade",
    "Compacted",
    "CreateBackup",
    "DistillationSupport",
    "Health",
    "Job",
    "JobAccepted",
    "JobState",
    "ModelInUse",
    "Status",
    "TokenSpend",
]

JobState: TypeAlias = Literal["queued", "running", "done", "failed", "cancelled"]


class Health(Reply):
    """`GET /v1/health`: no paths, names or counts."""

    status: Literal["ok", "starting", "stopping"]
    version: str
    protocol: int
    pid: int
    uptime_seconds: float


class DistillationSupport(Reply):
    """The daemon's distillation features (`status.distillation`)."""

    supported: bool
    max_token_budget: int
    scheduled: bool
    index_emitted: bool
    tokenizer_name: str
    archive_retention: str


class ModelInUse(Reply):
    """The distiller in use: the built-in extractive one, or a language model by name."""

    engine: str
    name: str | None = None


class TokenSpend(Reply):
    """Tokens used by distillations and dreams so far, counted with `tokenizer`."""

    total: int
    today: int = 0
    tokenizer: str = "o200k_base"


class Status(Reply):
    """`GET /v1/status`. `root` is the folder with the documents; `counts` is per kind."""

    space: str
    root: str
    counts: dict[str, int]
    distillation: DistillationSupport
    model: ModelInUse
    spend: TokenSpend
    schedules: list[Schedule] = field(default_factory=list)
    last_dream: DreamRecord | None = None
    open_conflicts: int = 0
    sync: SyncStatus | None = None
    operation: str | None = None


class CreateBackup(Request):
    """`POST /v1/backups`: the absolute path of the copy, a new file below `backup.folder`. Only for the owner.

    `movedTo` is where the caller moves the copy: a later purge names it there.
    """

    path: Annotated[str, Meta(min_length=1, max_length=4096, pattern="^/")]
    moved_to: Annotated[str, Meta(min_length=1, max_length=4096, pattern="^/")] | None = None


class Compacted(Reply):
    """A compaction of the store's file: by how many bytes it is smaller, and its size now."""

    freed_bytes: int
    size: int


class BackupMade(Reply):
    """A compact, verified copy of the whole store; `size` is in bytes, `counts` are records by kind."""

    path: str
    size: int
    counts: dict[str, int]


class JobAccepted(Reply):
    """202: the work runs as a job; `GET /v1/jobs/{job}` answers its progress."""

    job: str


class Job(Reply):
    """A job. `progress` is 0 to 1; `result` is what `?wait=true` would have answered; `error` an error envelope."""

    id: str
    kind: str
    state: JobState
    progress: float = 0.0
    result: Json = None
    error: Json = None
    created_at: str | None = None
    finished_at: str | None = None
