"""Dreams and their schedules."""

from typing import Annotated, Literal

from msgspec import Meta, field

from reverie.wire.base import Id, Json, Reply, Request, TokenBudget
from reverie.wire.memories import Change, Proposal


class DreamOptions(Request):
    """The options of a scheduled dream."""

    token_budget: TokenBudget | None = None


class StartDream(Request):
    """`POST /v1/dreams`. A dry run decides and writes nothing."""

    token_budget: TokenBudget | None = None
    dry_run: bool = False


class DreamAnswer(Reply):
    """The result of a dream. `archive` is None where no memory changed since the last one; a dry run names it too.

    `sources` is how many memories it has read, `waiting` how many the budget had no room for: the next dream goes on
    with them. `fallback` says what a model was asked for and did not decide, and why.
    """

    archive: str | None
    tokens_used: int
    token_budget: int
    index_updated: bool
    changes: list[Change]
    id: str | None = None
    dry_run: bool = False
    operation: str | None = None
    tokenizer: str = "o200k_base"
    proposals: list[Proposal] = field(default_factory=list)
    sources: int = 0
    waiting: int = 0
    fallback: str | None = None


class Failure(Reply):
    """Why a scheduled run failed: the error's code and message, and what to do next."""

    code: str
    message: str
    hint: str | None = None


class DreamRecord(Reply):
    """A past dream, or a scheduled one that failed: then `failure` says why, and nothing was changed.

    `waiting` is how many memories it has left to the next dream. `fallback` says what a model was asked for and did not
    decide, and why.
    """

    id: str
    at: str
    archive: str | None
    tokens_used: int
    token_budget: int
    trigger: str = "manual"
    counts: dict[str, int] = field(default_factory=dict)
    operation: str | None = None
    tokenizer: str = "o200k_base"
    proposals: list[Proposal] = field(default_factory=list)
    waiting: int = 0
    failure: Failure | None = None
    fallback: str | None = None


class CreateSchedule(Request):
    """`POST /v1/schedules`. `cron` has five fields in their standard meaning (0 = Sunday)."""

    cron: Annotated[str, Meta(min_length=9, max_length=200)]
    timezone: Annotated[str, Meta(min_length=1, max_length=100)] = "UTC"
    job: Literal["dream", "learn"] = "dream"
    options: DreamOptions = field(default_factory=DreamOptions)
    id: Id | None = None


class Schedule(Reply):
    """A schedule with its last and its next run; `failure` is why the last one failed, None where it did not."""

    id: str
    cron: str
    timezone: str
    job: str
    options: dict[str, Json] = field(default_factory=dict)
    next_run: str | None = None
    last_run: str | None = None
    failure: Failure | None = None
