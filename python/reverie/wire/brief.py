"""The brief of a project: its lines, and what a person may do with one."""

from typing import Annotated, Literal

from msgspec import Meta

from reverie.text_types import Text
from reverie.wire.base import Count, Reply, Request
from reverie.wire.memories import Memory

BriefKind = Literal["wish", "mistake", "command", "finding", "decision", "names", "last"]


class BriefQuery(Request):
    """The query of `GET /v1/projects/{project}/brief`; without `maxTokens` the setting `brief.max_tokens` holds."""

    format: Annotated[Literal["lines", "text"], Meta(description="The lines, or the text that agents are shown.")] = (
        "lines"
    )
    max_tokens: Annotated[int, Meta(ge=1, le=100_000, description="Tokens of the text at most.")] | None = None


class BriefLine(Reply):
    """A line of a brief: a quote or a fact, said at `at` in entry `seq` of a thread, or of a memory.

    `sessions` is the number of sessions in which the same was said or done. The id stays the same for the same words.
    `note` says since when a memory is in doubt; null for one that is not.
    """

    id: str
    kind: BriefKind
    text: str
    at: str | None = None
    thread: str | None = None
    seq: Count | None = None
    memory: str | None = None
    sessions: Count = 1
    note: str | None = None


class Brief(Reply):
    """A project's brief: its lines in their order, and the tokens of its text. Empty where nothing is known yet.

    `modelTokensPerSession` is what a model takes to read one session; null where none reads them.
    """

    project: str
    lines: list[BriefLine]
    tokens: Count
    max_tokens: Count
    tokenizer: str
    model_tokens_per_session: Count | None = None


class ChangeBriefLine(Request):
    """`POST /v1/projects/{project}/brief/lines/{id}`: drop a line, keep it as a memory, or correct its words."""

    action: Literal["keep", "drop", "edit"]
    text: (
        Annotated[Text, Meta(min_length=1, max_length=2_000, description="With `edit`: the corrected words.")] | None
    ) = None

    def __post_init__(self) -> None:
        """Refuse `edit` without words, and words without `edit`."""
        if (self.action == "edit") != (self.text is not None and bool(self.text.strip())):
            raise ValueError("`text` belongs to `edit`, which needs it")


class BriefLineChanged(Reply):
    """A line after the change, and the memory that it became; undo `operation` to take it back."""

    id: str
    action: Literal["keep", "drop", "edit"]
    memory: Memory | None = None
    operation: str | None = None
