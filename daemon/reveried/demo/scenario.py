"""What the demo does with the daemon: import, look, distil, look again; the results as one value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reveried.cli.import_commands import import_paths
from reveried.cli.pagination import every

if TYPE_CHECKING:
    from pathlib import Path

    from reverie import wire
    from reverie.client import Client
    from reveried.cli.import_file import FileReport
    from reveried.demo.choose import Choice

__all__ = ["Shown", "distil", "question", "room", "take_in"]

ROOM_LEAST, ROOM_MOST = 4_000, 16_000
_SAMPLE_QUESTION = "How do we run the tests, and which libraries may we add?"
_WORTH_ASKING = ("mistake", "preference", "procedure", "fact", "observation", "skill")
_QUESTION_WORDS = 8


@dataclass(frozen=True, slots=True)
class Shown:
    """Everything that the pages tell."""

    reports: list[FileReport]
    before: wire.Thread
    distilled: wire.DistillAnswer
    context: wire.ContextAnswer
    state: wire.WorkingState
    memories: list[wire.Memory]
    asked: str
    recalled: wire.RecallAnswer
    root: str
    others: int  # threads distilled beside the one that is shown


def take_in(client: Client, files: list[Path], *, quiet: bool = False) -> tuple[list[FileReport], wire.Thread]:
    """Import the files; the longest thread is the one that is shown."""
    reports = import_paths(client, files, quiet=quiet)
    threads = list(every(lambda after: client.threads(after=after)))
    return reports, max(threads, key=lambda thread: thread.tokens)


def distil(client: Client, reports: list[FileReport], thread: wire.Thread, choice: Choice) -> Shown:
    """Distil each thread that was taken in, then ask for what is left of the one that is shown."""
    others = {report.thread for report in reports if report.thread is not None} - {thread.id}
    for other in sorted(others):
        if client.thread(other).message_count:
            client.distill(other)
    done = client.distill(thread.id)
    memories = list(every(lambda after: client.memories(after=after)))
    asked = _SAMPLE_QUESTION if choice.is_sample else question(memories, client.working_state(thread.id))
    return Shown(
        reports=reports,
        before=thread,
        distilled=done,
        context=client.context(thread.id, max_tokens=room(thread.tokens)),
        state=client.working_state(thread.id),
        memories=list(every(lambda after: client.memories(after=after))),
        asked=asked,
        recalled=client.recall(asked, limit=3),
        root=client.status().root,
        others=len(others),
    )


def room(tokens: int) -> int:
    """How much an agent is given to go on with: a fifth of the conversation, within bounds, in round numbers."""
    return max(ROOM_LEAST, min(ROOM_MOST, tokens // 5 // 1000 * 1000))


def question(memories: list[wire.Memory], state: wire.WorkingState) -> str:
    """Something worth asking of a session that nobody knows: about its hardest lesson, else about its task."""
    for kind in _WORTH_ASKING:
        for memory in memories:
            if memory.type == kind:
                return f"What do we know about {_first_words(memory.content)}?"
    return f"What about {_first_words(state.current_task or 'the last task')}?"


def _first_words(text: str) -> str:
    return " ".join(text.split()[:_QUESTION_WORDS]).rstrip(".,;:")
