"""Health, status, backups and jobs of the daemon."""

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, field

from reverie.wire.base import Json, Reply, Request
from reverie.wire.documents import SyncStatus
from reverie.wire.dreams import DreamRecord, Schedule
from reverie.wire.sessions import LateHooks

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


class ModelChecked(Reply):
    """The answer of one model to a tiny request: its name as the provider gives it, the time, the tokens."""

    role: str
    model: str
    seconds: float
    input_tokens: int
    output_tokens: int


class DistillerChecked(Reply):
    """`POST /v1/distiller/check`: the distiller in use and its models, which all answered; extractive: none."""

    engine: str
    models: list[ModelChecked] = field(default_factory=list)


class ModelSpend(Reply):
    """The tokens and calls of requests to the model of one role on this UTC day, over all spaces.

    `calls` were sent, `failed` of them brought no answer, and the end of `open` is not known (yet): they count as
    `reservedTokens`, the most that they may have used. `cachedTokens` of `inputTokens` were in the provider's cache.
    """

    role: str
    calls: int
    failed: int = 0
    open: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    reserved_tokens: int = 0


class TokenSpend(Reply):
    """Tokens used by distillations and dreams so far, counted with `tokenizer`; and by requests to models today.

    `dailyTokens` and `dailyCalls` are the ceilings of those requests; null where no model is asked. `modelSessions` are
    the threads that a model has read so far, `modelTokensPerSession` what one took on average, read and written.
    """

    total: int
    today: int = 0
    tokenizer: str = "o200k_base"
    models: list[ModelSpend] = field(default_factory=list)
    daily_tokens: int | None = None
    daily_calls: int | None = None
    model_sessions: int = 0
    model_tokens_per_session: int | None = None


class Status(Reply):
    """`GET /v1/status`. `root` is the folder with the documents; `counts` is per kind.

    `candidates` is how many changes wait for a person's review; `pausedSince` is set while no session is recorded.
    """

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
    candidates: int = 0
    paused_since: str | None = None
    late_hooks: LateHooks | None = None


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
