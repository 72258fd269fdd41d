"""Entries joined into messages: one per API reply, each tool call followed by its result; and what was typed aside."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from reverie.importers.claude_code import is_command, is_queue_operation, joined_text, queued_words, withdrawn
from reverie.importers.entry import compact, message_tokens
from reverie.importers.rewinds import rewound_positions
from reverie.lazy_regex import lazy_regex
from reverie.models import NO_RESULT, ORPHAN_RESULT, Entry, EntryKind, Json, Message, Role

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reverie.models import Entry


_REPEATED: Final = "[a call that cannot be made again]"


def group_messages(speech: Iterable[tuple[Entry, bool]]) -> list[Message]:
    """Return the main line's messages from its entries, each marked if it was rewound.

    A user line belongs behind a reply when it answers one of the reply's calls, or stands before such an answer: the
    API wants the results first, so words typed meanwhile follow them in the same message. So do words from the client's
    queue, which may stand in the middle of a reply.
    """
    return [draft.message() for draft in _joined(list(speech)).drafts if draft.parts]


def independent_runs(speech: Iterable[tuple[Entry, bool]]) -> list[tuple[int, int]]:
    """Return (seq of the first entry, number of messages) of each run of the main line that can be read alone.

    The entries of one run join into the same messages whether they are read alone or with all others: no reply, no
    tool call with its results, and no words typed before a result are on both sides of a cut.
    """
    lines = list(speech)
    table = _joined(lines)
    messages = Counter(draft.exchange for draft in table.drafts if draft.parts)
    runs: list[tuple[int, int]] = []
    end = -1
    # An exchange begins where its first entry is, so they come in the order of their beginnings.
    for number, (first, last) in enumerate(table.exchanges):
        if first > end:
            runs.append((lines[first][0].seq, 0))
        end = max(end, last)
        runs[-1] = (runs[-1][0], runs[-1][1] + messages[number])
    return runs


def _joined(lines: list[tuple[Entry, bool]]) -> _Table:
    """Return the table with the messages of all lines."""
    table = _Table(_first_answers(lines))
    for index, (entry, rewound) in enumerate(lines):
        if entry.role == "assistant":
            table.add_assistant(entry, index, rewound=rewound)
        else:
            table.add_user(entry, index, rewound=rewound)
    return table


def blocks_of(content: Json) -> list[dict[str, Any]]:
    """Return a content as a list of blocks; an empty text gives none."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return list(content)


def tool_ids(content: Json, kind: str, key: str) -> list[str]:
    """Return the values of `key` in the content's blocks of the type `kind`: ids of calls, or calls of results."""
    if not isinstance(content, list):
        return []
    return [block[key] for block in content if block["type"] == kind and isinstance(block.get(key), str)]


@dataclass(slots=True)
class _Draft:
    """A message under construction, and the entries that it is joined from, in file order."""

    role: Role
    rewound: bool
    exchange: int  # its number: a reply and the results of its calls are one exchange
    parts: list[Entry] = field(default_factory=list)
    last_answer: int = -1  # the place where the last of its calls is answered

    def message(self) -> Message:
        first, last = self.parts[0], self.parts[-1]
        usages = [part.usage for part in self.parts if part.usage is not None]
        return Message(
            role=self.role,
            content=self._content(),
            first_seq=first.seq,
            last_seq=last.seq,
            at=first.at,
            tokens=sum(part.tokens for part in self.parts),
            rewound=self.rewound,
            usage=usages[-1] if usages else None,
        )

    def _content(self) -> Json:
        if len(self.parts) == 1:
            return self.parts[0].content
        blocks = [block for part in self.parts for block in blocks_of(part.content)]
        if self.role == "user":
            blocks.sort(key=lambda block: block["type"] != "tool_result")
        return blocks


@dataclass(slots=True)
class _Table:
    """The messages built so far; every reply with tool calls is followed by a draft for their results.

    `answers` has the place of the first result for each call, by the call's place and id. `exchanges` are the first
    and last place that each exchange depends on.
    """

    answers: dict[tuple[int, str], int]
    drafts: list[_Draft] = field(default_factory=list)
    exchanges: list[tuple[int, int]] = field(default_factory=list)
    replies: dict[str, tuple[_Draft, _Draft]] = field(default_factory=dict)
    owners: dict[str, _Draft] = field(default_factory=dict)  # call id -> where its result goes
    current: tuple[_Draft, _Draft] | None = None

    def add_assistant(self, entry: Entry, place: int, *, rewound: bool) -> None:
        """Add an assistant line: to its open reply, else as a new message."""
        pair = self.replies.get(entry.reply or "")
        if pair is None or pair[0].rewound is not rewound:
            exchange = self._new_exchange(place)
            pair = (_Draft("assistant", rewound, exchange), _Draft("user", rewound, exchange))
            self.drafts += pair
            if entry.reply is not None:
                self.replies[entry.reply] = pair
        reply, results = pair
        self._add(reply, entry, place)
        for call in tool_ids(entry.content, "tool_use", "id"):
            self.owners[call] = results
            answer = self.answers.get((place, call), -1)
            reply.last_answer = max(reply.last_answer, answer)
            self._extend(reply.exchange, answer)
        self.current = pair

    def add_user(self, entry: Entry, place: int, *, rewound: bool) -> None:
        """Add a user line: to the results of its call, to the current reply's results, or as a new message."""
        for call in tool_ids(entry.content, "tool_result", "tool_use_id"):
            results = self.owners.get(call)
            if results is not None and results.rewound is rewound:
                self._add(results, entry, place)
                return
        if (
            self.current is not None
            and self.current[0].rewound is rewound
            and (place < self.current[0].last_answer or is_queue_operation(entry))
        ):
            self._add(self.current[1], entry, place)
            return
        self.drafts.append(_Draft("user", rewound, self._new_exchange(place), [entry]))
        # The conversation went on: what the same reply says after this stands after this.
        self.replies.clear()
        self.current = None

    def _new_exchange(self, place: int) -> int:
        self.exchanges.append((place, place))
        return len(self.exchanges) - 1

    def _add(self, draft: _Draft, entry: Entry, place: int) -> None:
        draft.parts.append(entry)
        self._extend(draft.exchange, place)

    def _extend(self, exchange: int, place: int) -> None:
        first, last = self.exchanges[exchange]
        self.exchanges[exchange] = (first, max(last, place))


def _first_answers(lines: list[tuple[Entry, bool]]) -> dict[tuple[int, str], int]:
    """Return the index of the line with each call's first result, by the index of the call's line and the call's id.

    A result answers the nearest call before it that has its id: some models number their calls anew in each turn.
    """
    calls: dict[str, int] = {}
    answers: dict[tuple[int, str], int] = {}
    for index, (entry, _) in enumerate(lines):
        if entry.role == "assistant":
            calls.update((call, index) for call in tool_ids(entry.content, "tool_use", "id"))
            continue
        for call in tool_ids(entry.content, "tool_result", "tool_use_id"):
            if call in calls:
                answers.setdefault((calls[call], call), index)
    return answers


def repair_tool_pairs(messages: Sequence[Message]) -> list[Message]:
    """Return messages in which every call is answered next and every result has its call before it.

    A call without a result gets the error NO_RESULT; a result without its call, or a second one, becomes a text. So
    does a call without an id, or with one that was used before: the API takes each id once.
    Roles may repeat: the API joins neighbours of one role, and the person's words stay separate here.
    """
    whole: list[Message] = []
    waiting: list[str] = []
    used: set[str] = set()
    for message in messages:
        if message.role == "assistant":
            _close(whole, waiting)
            asking = _with_unique_ids(message, used)
            waiting = tool_ids(asking.content, "tool_use", "id")
            whole.append(asking)
            continue
        answered, mended = _match_results(message, waiting)
        missing = [call for call in waiting if call not in answered]
        waiting = []
        if missing and not answered:
            # Nothing was answered, so the results that say so stand by themselves before the person's words.
            _close(whole, missing)
        elif missing:
            mended = replace(
                mended,
                content=_no_results(missing) + mended.content,
                tokens=mended.tokens + message_tokens(_no_results(missing)),
            )
        whole.append(mended)
    _close(whole, waiting)
    return whole


def _close(whole: list[Message], calls: list[str]) -> None:
    if not calls:
        return
    asked = whole[-1]
    content = _no_results(calls)
    whole.append(
        Message(
            role="user",
            content=content,
            first_seq=asked.last_seq,
            last_seq=asked.last_seq,
            at=asked.at,
            tokens=message_tokens(content),
            rewound=asked.rewound,
        )
    )


def _no_results(calls: list[str]) -> list[dict[str, Any]]:
    return [{"type": "tool_result", "tool_use_id": call, "is_error": True, "content": NO_RESULT} for call in calls]


def _with_unique_ids(message: Message, used: set[str]) -> Message:
    """Return an assistant message with distinct call ids; a call without an id, or with one in `used`, becomes text."""
    content: list[dict[str, Any]] = []
    changed = False
    for block in blocks_of(message.content):
        call = block.get("id")
        if block["type"] != "tool_use" or (isinstance(call, str) and call not in used):
            content.append(block)
        else:
            changed = True
            content.append({"type": "text", "text": f"{_REPEATED} {compact(block)}"})
        if block["type"] == "tool_use" and isinstance(call, str):
            used.add(call)
    return replace(message, content=content, tokens=message_tokens(content)) if changed else message


def _match_results(message: Message, waiting: list[str]) -> tuple[set[str], Message]:
    """Return the ids of the calls that a user message answers, and the message with other results turned into text."""
    if isinstance(message.content, str):
        return set(), message
    answered: set[str] = set()
    results: list[dict[str, Any]] = []
    others: list[dict[str, Any]] = []
    changed = False
    for block in message.content:
        if block["type"] != "tool_result":
            others.append(block)
        elif (call := block.get("tool_use_id")) in waiting and call not in answered:
            answered.add(call)
            results.append(block)
        else:
            changed = True
            others += _as_text(block.get("content"))
    content = results + others
    if content == message.content:
        return answered, message
    tokens = message_tokens(content) if changed else message.tokens
    return answered, replace(message, content=content, tokens=tokens)


def _as_text(content: Json) -> list[dict[str, Any]]:
    """Return the content of a result that has no call as blocks of the user, each text with a line that says so."""
    blocks = blocks_of(content) if isinstance(content, str | list) else []
    return [
        {**block, "text": f"{ORPHAN_RESULT}\n{block['text']}"} if isinstance(block.get("text"), str) else block
        for block in blocks
    ]


@dataclass(frozen=True, slots=True)
class PastSummary:
    """A compaction by the client that recorded the session: `text` took the place of the entries before `seq`.

    `number` counts from 1 in the order of the file; `seq` is the boundary's entry, or the summary's own where no
    boundary precedes it; `tokens_before` is what the client said that the conversation weighed.
    """

    number: int
    text: str
    seq: int
    tokens_before: int | None = None
    at: str | None = None


def main_line(entries: Iterable[Entry], *, verbatim: bool = False) -> list[Message]:
    """Return the main conversation of a thread; takes all its entries, of all kinds, in order.

    An entry repeated with the same id and the same content counts once. Nothing else is left out.
    """
    distinct = without_repeats(entries)
    taken = rewound_positions(distinct)
    messages = group_messages(
        (entry, index in taken) for index, entry in enumerate(distinct) if entry.kind is EntryKind.SPEECH
    )
    return messages if verbatim else repair_tool_pairs(messages)


def past_summaries(entries: Iterable[Entry]) -> list[PastSummary]:
    """Return the thread's compactions, oldest first."""
    summaries: list[PastSummary] = []
    boundary: Entry | None = None
    for entry in without_repeats(entries):
        if entry.kind is EntryKind.BOUNDARY:
            boundary = entry
        elif entry.kind is EntryKind.SUMMARY:
            summaries.append(_past(len(summaries) + 1, boundary, entry))
            boundary = None
    return summaries


def _past(number: int, boundary: Entry | None, summary: Entry) -> PastSummary:
    start = boundary or summary
    metadata = start.extra.get("compactMetadata")
    before = metadata.get("preTokens") if isinstance(metadata, dict) else None
    return PastSummary(
        number=number,
        text=joined_text(summary.content),
        seq=start.seq,
        tokens_before=before if isinstance(before, int) else None,
        at=start.at,
    )


def without_repeats(entries: Iterable[Entry]) -> list[Entry]:
    """Return the entries without repeated ones and withdrawn words; an id with different content is no repetition."""
    entries = list(entries)
    gone = withdrawn(entries)
    first: dict[str, Entry] = {}
    kept: list[Entry] = []
    for index, entry in enumerate(entries):
        if index in gone:
            continue
        if entry.id is not None:
            original = first.setdefault(entry.id, entry)
            if original is not entry and (original.kind, original.role, original.content) == (
                entry.kind,
                entry.role,
                entry.content,
            ):
                continue
        kept.append(entry)
    return kept


_NAME: Final = lazy_regex(r"<command-name>\s*/?([^\s<]*)")
_ARGUMENTS: Final = lazy_regex(r"<command-args>(.*?)</command-args>", re.DOTALL)
# Commands to the client itself, which say nothing about the work; what is typed behind `/compact` does.
_OF_THE_CLIENT: Final = lazy_regex(
    "add-dir|agents|bashes|bug|clear|compact|config|context|cost|doctor|effort|exit|export|extra-usage|"
    "fast|help|hooks|ide|install-github-app|login|logout|mcp|memory|model|output-style|permissions|"
    "plugin|quit|rate-limit-options|release-notes|rename|resume|rewind|sandbox|skills|stats|status|"
    "statusline|stickers|tasks|terminal-setup|theme|todos|upgrade|usage|vim"
)


def with_asides(messages: Sequence[Message], entries: Iterable[Entry]) -> list[Message]:
    """Return a thread's messages with what was typed aside in all its entries, in order."""
    return sorted([*messages, *typed_asides(entries)], key=lambda message: message.first_seq)


def typed_asides(entries: Iterable[Entry]) -> list[Message]:
    """Return each slash command, and each text of a queue that is no speech, as a message, without rewound ones."""
    entries = list(entries)
    if not any(is_queue_operation(entry) or is_command(entry) for entry in entries):
        return []
    distinct = without_repeats(entries)
    taken = rewound_positions(distinct)
    messages: list[Message] = []
    for index, entry in enumerate(distinct):
        if index in taken:
            continue
        if is_command(entry):
            name = _NAME.search(joined_text(entry.content))
            given = _ARGUMENTS.search(joined_text(entry.content))
            words = given[1].strip() if given else ""
            if name is not None and (not _OF_THE_CLIENT.fullmatch(name[1]) or (name[1] == "compact" and words)):
                messages.append(_message(entry, f"/{name[1]} {words}".rstrip()))
        elif entry.kind is EntryKind.OTHER and (words := queued_words(entry)):
            messages.append(_message(entry, words))
    return sorted(messages, key=lambda message: message.first_seq)


def _message(entry: Entry, text: str) -> Message:
    """Return a message of the person with this text, and the number and time of the entry."""
    tokens = message_tokens(text)
    return Message(role="user", content=text, first_seq=entry.seq, last_seq=entry.seq, at=entry.at, tokens=tokens)
