"""Generator of a session with a compaction in its middle, after which the earlier names are used again."""

from __future__ import annotations

from support.story import Story, call, result, text

_PARTS = ("parser", "router", "exporter", "ledger", "mailer")


def compacted_session(*, compacted: bool = True, tasks: int = 5) -> bytes:
    """Return a transcript: `tasks` tasks, a compaction (unless not `compacted`), then work on the files of all tasks.

    Every name that is used after the compaction occurs before it beside the words "keeps its retry counter in".
    """
    transcript = Story()
    for number in range(tasks):
        _task(transcript, number)
    if compacted:
        transcript.compact("The person works on the queue; `reset_parser_0` was mended.")
    for number in range(tasks):
        name = f"{_PARTS[number % len(_PARTS)]}_{number}"
        transcript.assistant(text(f"Going on with src/{name}.py now."), reply=f"after{number}")
        transcript.assistant(
            call(f"after_{number}", command=f"grep -n reset_{name} src/{name}.py"), reply=f"after{number}"
        )
        transcript.user([result(f"after_{number}", f"12: def reset_{name}(self):")])
    return transcript.bytes()


def _task(transcript: Story, number: int) -> None:
    """Add one task: request, reading a file, running its test, and the agent's summary."""
    name = f"{_PARTS[number % len(_PARTS)]}_{number}"
    transcript.user(f"Please make the {name} count its retries again, it keeps its retry counter in src/{name}.py")
    transcript.assistant(
        text(f"The {name} keeps its retry counter in src/{name}.py; I will look at reset_{name} first.")
    )
    transcript.assistant(call(f"read_{number}", file_path=f"/home/ann/queue/src/{name}.py"))
    transcript.user(
        [result(f"read_{number}", f"def reset_{name}(self):  # keeps its retry counter in order\n    pass\n" * 9)]
    )
    transcript.assistant(call(f"test_{number}", command=f"pytest -q tests/test_{name}.py"))
    transcript.user([result(f"test_{number}", "3 passed")])
    transcript.assistant(text(f"Done: reset_{name} keeps its retry counter in one place."))
