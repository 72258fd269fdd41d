"""A made-up session that a client compacted in its middle: the work after it goes on with what stood before."""

from __future__ import annotations

from support.transcripts import Transcript, call, result, text

__all__ = ["compacted_session"]

_PARTS = ("parser", "router", "exporter", "ledger", "mailer")


def compacted_session(*, compacted: bool = True, tasks: int = 5) -> bytes:
    """`tasks` tasks, the client's compaction, then work on the files of all of them; without one when not `compacted`.

    Every name that the work after the compaction uses stood before it with the words "keeps its retry counter in".
    """
    story = Transcript()
    for number in range(tasks):
        _task(story, number)
    if compacted:
        story.compaction("The person works on the queue; `reset_parser_0` was mended.")
    for number in range(tasks):
        name = f"{_PARTS[number % len(_PARTS)]}_{number}"
        story.assistant(text(f"Going on with src/{name}.py now."), reply=f"after{number}")
        story.assistant(call(f"after_{number}", command=f"grep -n reset_{name} src/{name}.py"), reply=f"after{number}")
        story.user([result(f"after_{number}", f"12: def reset_{name}(self):")])
    return story.bytes()


def _task(story: Transcript, number: int) -> None:
    name = f"{_PARTS[number % len(_PARTS)]}_{number}"
    story.user(f"Please make the {name} count its retries again, it keeps its retry counter in src/{name}.py")
    story.assistant(text(f"The {name} keeps its retry counter in src/{name}.py; I will look at reset_{name} first."))
    story.assistant(call(f"read_{number}", file_path=f"/home/ann/queue/src/{name}.py"))
    story.user(
        [result(f"read_{number}", f"def reset_{name}(self):  # keeps its retry counter in order\n    pass\n" * 9)]
    )
    story.assistant(call(f"test_{number}", command=f"pytest -q tests/test_{name}.py"))
    story.user([result(f"test_{number}", "3 passed")])
    story.assistant(text(f"Done: reset_{name} keeps its retry counter in one place."))
