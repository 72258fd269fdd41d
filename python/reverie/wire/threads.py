"""Threads and their messages, and the import of transcripts into them: a file is sent in chunks."""

from typing import Annotated, Any, Literal, TypeAlias

from msgspec import UNSET, Meta, UnsetType, field

from reverie.text_types import Text, Words
from reverie.wire.base import LIMIT_MAX, Count, Id, Json, ListQuery, PageLimit, Purged, Reply, Request, Sequence
from reverie.wire.spaces import ProjectText

MESSAGES_MAX = 1000  # in one append
_EDITS_MAX = 100  # in one append
_TITLE_CHARS = 500

Title = Annotated[Text, Meta(max_length=_TITLE_CHARS)]

ImportClient: TypeAlias = Literal["claude-code", "codex", "pi", "chatgpt"]
"""The program that wrote a session. The form of each line tells how it is read; this tells whose session it is."""

CHUNK_MAX_BYTES = 32 * 1024 * 1024


Window: TypeAlias = Annotated[int, Meta(ge=1000, le=100_000_000)]


class CreateThread(Request):
    """`POST /v1/threads`. Without `id` the daemon generates one; `contextWindow` is in tokens.

    `project` is a name, or the absolute path of the folder that the agent works in: the daemon finds its repository.
    """

    id: Id | None = None
    agent: Id | None = None
    title: Title | None = None
    model: Annotated[str, Meta(min_length=1, max_length=200)] | None = None
    context_window: Window | None = None
    project: ProjectText | None = None


class ChangeThread(Request):
    """`PATCH /v1/threads/{id}`: another title, project or window; null removes it, what is left out stays."""

    title: Title | UnsetType | None = UNSET
    project: ProjectText | UnsetType | None = UNSET
    context_window: Window | UnsetType | None = UNSET


class ContextUse(Reply):
    """How full the model's window is: `fraction` = `tokens` / `window`.

    `estimated`: some of the tokens are our own count by `tokenizer` times `factor`, a correction learnt from the
    usage that the API reported.
    """

    tokens: int
    window: int
    fraction: float
    tokenizer: str = "o200k_base"
    estimated: bool = True
    factor: float = 1.0


class Cleared(Reply):
    """The context edits that the API has applied to a thread so far, and the tokens that they cleared."""

    edits: int
    tokens: int


class Thread(Reply):
    """A thread. `tokens` are those of all its messages, `context` those that its context holds now.

    `project` is the name of the project that it works in.
    """

    id: str
    message_count: int
    tokens: int
    distillations: int
    context: ContextUse
    created_at: str
    updated_at: str
    agent: str | None = None
    title: str | None = None
    model: str | None = None
    context_window: int | None = None
    source: str | None = None
    cleared: Cleared | None = None
    tokenizer: str = "o200k_base"
    project: str | None = None


class ThreadsQuery(ListQuery):
    """The query of `GET /v1/threads`."""

    order: Annotated[
        Literal["id", "newest"], Meta(description="By id, or those first that were appended to or distilled last.")
    ] = "id"
    project: ProjectText | None = None
    main: Annotated[bool, Meta(description="Only threads with messages, and none of subagents.")] = False


class MessagesQuery(Request):
    """The query of `GET /v1/threads/{id}/messages`: a page behind `after`, or the `last` messages.

    With `last` and `limit`, the first `limit` of the `last` ones; `next` leads to the others.
    """

    limit: PageLimit | None = None
    after: Sequence | None = None
    last: Annotated[int, Meta(ge=1, le=LIMIT_MAX, description="The last so many messages.")] | None = None

    def __post_init__(self) -> None:
        """Refuse a page that is to be behind a message and the last one."""
        if self.last is not None and self.after is not None:
            raise ValueError("give `after` or `last`, not both")


class RewindThread(Request):
    """`POST /v1/threads/{id}/rewind`: back to entry `toSeq`, the last that stays; 0 is the beginning.

    `expectedSeq`: only if that is still the last entry, else 409.
    """

    to_seq: Count
    expected_seq: Count | None = None


class Rewound(Reply):
    """A rewound thread: `messages` entries left the main line; undo of `operation` brings them back.

    `lastSeq` is the mark that says so, the last entry now.
    """

    to_seq: int
    last_seq: int
    messages: int
    operation: str
    context: ContextUse


class StoredEntry(Reply):
    """One stored line: `value` is the imported JSON with secrets redacted, `raw` the text of a line that is not JSON.

    An appended message has no line of a file: `value` is then the message. `problem` says why a line was not read.
    """

    seq: int
    kind: str
    line: int = 0
    value: dict[str, Any] | None = None
    raw: str | None = None
    problem: str | None = None


class DeleteThreadQuery(Request):
    """The query of `DELETE /v1/threads/{id}`."""

    confirm: Annotated[str, Meta(max_length=200, description="The thread's id, once more.")] | None = None
    purge: Annotated[bool, Meta(description="Remove its words everywhere, also from what was learnt from it.")] = False
    keep_memories: Annotated[bool, Meta(description="Purge the thread, and keep what was learnt from it.")] = False


class ThreadDeleted(Reply):
    """A deleted thread and the number of its messages."""

    id: str
    messages: int
    operation: str | None = None
    purged: Purged | None = None


class MessageIn(Request):
    """One message in Anthropic form: a string, or a list of content blocks each with a `type`.

    `at` is when it was said (RFC 3339, with an offset or `Z`), for messages from elsewhere; else the append's time.
    """

    role: Literal["user", "assistant"]
    content: Annotated[str | list[dict[str, Any]], Words()]
    at: Annotated[str, Meta(min_length=1, max_length=64, description="When it was said, RFC 3339.")] | None = None

    def __post_init__(self) -> None:
        """Refuse a block without a type, and a text block without a text: no model API accepts either."""
        if isinstance(self.content, list):
            for position, block in enumerate(self.content):
                if not isinstance(block.get("type"), str):
                    raise ValueError(f"content[{position}] has no `type`")  # noqa: TRY004 - msgspec passes ValueError on
                if block["type"] == "text" and not isinstance(block.get("text"), str):
                    raise ValueError(f"content[{position}] is of type text and has no `text`")


class AppendMessages(Request):
    """`POST /v1/threads/{id}/messages`. `expectedSeq`: append only if that is still the last entry, else 409.

    `usage` and `appliedEdits` (its `context_management.applied_edits`) are those of the reply that is appended last, as
    the API gave them. A usage without a possible number of input (or prompt) tokens is kept, and counts as none.
    """

    messages: Annotated[list[MessageIn], Meta(min_length=1, max_length=MESSAGES_MAX)]
    usage: dict[str, Any] | None = None
    expected_seq: Count | None = None
    applied_edits: Annotated[list[dict[str, Any]], Meta(max_length=_EDITS_MAX)] = field(default_factory=list)


class DistilledNow(Reply):
    """The distillation that an append caused; with a model it is the `job` that distills, and has no archive yet."""

    archive: str | None = None
    number: int | None = None
    job: str | None = None


class Appended(Reply):
    """The result of an append: the entries of the messages, the window, applied edits and a distillation it caused."""

    first_seq: int
    last_seq: int
    context: ContextUse
    applied: list[str] = field(default_factory=list)
    distilled: DistilledNow | None = None


class StoredMessage(Reply):
    """A verbatim message of the main line, joined from the entries `firstSeq` to `lastSeq`."""

    role: Literal["user", "assistant"]
    content: Json
    first_seq: int
    last_seq: int
    at: str | None = None
    tokens: int = 0
    rewound: bool = False


class StartImport(Request):
    """`POST /v1/imports`. `session` names the thread at its source; `source` is where it was read from, for people.

    For a session whose thread a person deleted the answer is a `conflict` with `details.forgotten`; `again` brings it
    back; an agent's token may not.
    """

    client: ImportClient
    session: Annotated[str, Meta(min_length=1, max_length=200)]
    source: Annotated[str, Meta(max_length=4096)] | None = None
    again: bool = False


class ImportPlace(Reply):
    """The position of an import in its file: `offset` bytes, `lines` lines.

    `sha256` (hex) is of the bytes from `checkFrom` to `offset`; empty at the beginning.
    """

    id: str
    thread: str
    offset: int
    lines: int
    check_from: int = 0
    sha256: str = ""


class ChunkQuery(Request):
    """The position of a chunk. `final=1`: no bytes follow, so the last line needs no newline."""

    offset: Count
    first_line: Annotated[int, Meta(ge=1)]
    final: bool = False


class Problem(Reply):
    """A line that could not be parsed; it is stored raw."""

    line: int
    why: str


class ChunkAnswer(Reply):
    """The result of a chunk. `offset` and `lines` are totals of the file so far, the others count this chunk alone.

    `kinds` counts what was `redacted` by its kind.
    """

    offset: int
    lines: int
    added: int
    duplicates: int
    redacted: int
    counts: dict[str, int] = field(default_factory=dict)
    kinds: dict[str, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
