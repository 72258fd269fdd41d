"""The demo's pages: plain sentences and a few bars that read as well in a pipe as on a terminal."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from rich.text import Text

from reveried.cli.output import clean, console, counted, size

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from rich.console import Console

    from reverie import wire
    from reveried.cli.import_file import FileReport
    from reveried.demo.choose import Choice
    from reveried.demo.scenario import Shown

__all__ = ["Teller"]

WIDTH = 96
BAR = 46
_LINES_OF_FILE = 12
_LINES_OF_TEXT = 3
_MEMORIES_PER_KIND = 3
_TIERS = (
    ("bootstrap", "house rules", "texts that open every conversation"),
    ("digest", "who and how", "who it works with, and what they usually do"),
    ("working_state", "what is going on", "task, steps, decisions, open files"),
    ("notes", "notes", "what the agent said to remember"),
    ("recall", "memories", "lessons of earlier work that fit this one"),
    ("summary", "summary", "the older messages, told in seven short sections"),
    ("excerpts", "word for word", "the passages that the work still needs, unchanged"),
    ("tail", "last messages", "the end of the conversation, unchanged"),
    ("index", "index", "what else can be looked up"),
)
_KINDS = {
    "mistake": "mistakes not to make again",
    "preference": "how people here like it",
    "procedure": "how things are done",
    "fact": "facts",
    "observation": "noticed on the way",
    "skill": "what it can do",
    "episode": "work that was finished",
}


class Teller:
    """Prints one page after another."""

    def __init__(self, out: Console | None = None) -> None:
        self._out = out if out is not None else console()
        self._out.width = min(self._out.width, WIDTH)

    def opening(self, choice: Choice, home: Path) -> None:
        """What this is."""
        self._heading("Reverie keeps the thread")
        self._say(
            "An AI agent works at a desk that fills up. When it is full, the oldest papers fall off, and the agent "
            "forgets what was decided and what already failed. Reverie clears the desk in time: it keeps what the "
            "work still needs, and writes down what was learnt."
        )
        self._say(f"Shown here on {choice.whose}, with a daemon of its own in {home}. Nothing of yours is touched.")

    def taken_in(self, reports: list[FileReport], thread: wire.Thread) -> None:
        """What was imported."""
        self._heading("1. The conversation goes in")
        lines, hidden = sum(r.lines for r in reports), sum(r.redacted for r in reports)
        self._say(
            f"{counted(lines, 'line')} from {counted(len(reports), 'file')}; "
            f"the longest conversation has {counted(thread.message_count, 'message')}."
        )
        if thread.title:
            self._quote(f"It began with: {thread.title}")
        if hidden:
            self._say(f"{counted(hidden, 'secret')} in it never reached the disk; [REDACTED] stands in the place.")
        for report in reports:
            if report.error is not None:
                self._say(f"Left out: {report.path}: {report.error}")

    def distilled(self, shown: Shown) -> None:
        """Before and after, and what the rest is made of."""
        self._heading("2. The desk is cleared")
        tokens, before = shown.context.tokens, max(shown.before.tokens, shown.context.tokens.total)
        self._bar("before", shown.before.tokens, before, "red")
        self._bar("after", tokens.total, before, "green")
        share = tokens.total / shown.before.tokens if shown.before.tokens else 1.0
        self._row("")
        self._say(
            f"Sizes are in tokens, the pieces of words that models read and bill ({tokens.tokenizer}). An agent that "
            f"goes on from here reads {share:.0%} of the conversation, and this is what is in it:"
        )
        for field, name, means in _TIERS:
            cost = getattr(tokens, field)
            if cost:
                self._row(f"{cost:>8,}  {name:<17} {means}")
        self._row("")
        self._say("All of the messages are still stored, word for word; only the desk is cleared.")

    def state(self, state: wire.WorkingState) -> None:
        """What were we doing?"""
        self._heading("3. Where were we?")
        self._pairs(
            [
                ("Task", [state.current_task]),
                ("Done", state.completed_steps[-4:]),
                ("Next", state.next_steps[:3]),
                ("Decided", state.recent_decisions[-3:]),
                ("Files", [", ".join(state.open_files[-5:])]),
                ("Blocked by", state.blockers[:3]),
            ]
        )

    def learnt(self, shown: Shown) -> None:
        """The memories by kind with their files."""
        self._heading("4. What was learnt")
        if not shown.memories:
            self._say("Nothing that would be worth keeping: a conversation without lessons leaves none.")
            return
        for kind, means in _KINDS.items():
            found = [memory for memory in shown.memories if memory.type == kind]
            if not found:
                continue
            files = sorted({memory.document for memory in found})
            self._row(f"{means.capitalize()} ({len(found)}), in {', '.join(files)}:")
            for memory in found[:_MEMORIES_PER_KIND]:
                self._quote(memory.title or memory.content, mark="-")
            if len(found) > _MEMORIES_PER_KIND:
                self._row(f"    and {len(found) - _MEMORIES_PER_KIND} more")

    def recalled(self, asked: str, found: wire.RecallAnswer) -> None:
        """One question and its answer."""
        self._heading("5. Ask it something")
        self._quote(asked, mark=">")
        if not found.hits:
            self._row("    Nothing remembered answers that.")
        for hit in found.hits:
            self._quote(
                f"{hit.memory.title or hit.memory.content}  [{hit.memory.type}, {hit.memory.document}]", mark="-"
            )

    def folder(self, root: Path) -> None:
        """The files, and one of them in full."""
        self._heading("6. It is all in plain files")
        files = sorted(path for path in root.rglob("*") if path.is_file() and ".reverie" not in path.parts)
        for path in files:
            self._row(f"{size(path.stat().st_size):>10}  {path.relative_to(root)}")
        shown = _telling(files)
        if shown is not None:
            self._row("")
            self._say(f"{shown.relative_to(root)} reads:")
            for line in shown.read_text(encoding="utf-8").splitlines()[:_LINES_OF_FILE]:
                self._row(f"    | {line}")

    def ending(self, home: Path, root: Path, pid: int, *, keep: bool) -> None:
        """How to go on."""
        self._heading("And now")
        if keep:
            self._say("The daemon goes on running. To look around:")
            self._row(f"    export REVERIE_HOME={home}")
            self._row("    reverie status; reverie memories; reverie log")
            self._row(f"    ls {root}")
            self._say(f"To end it: reverie down; rm -r {home}  (the daemon is process {pid})")
        else:
            self._say("This was a trial in a temporary folder; reverie demo --keep leaves it in place. For good:")
            self._row("    reverie up")
            self._row("    reverie import claude-code ~/.claude/projects")

    def _heading(self, text: str) -> None:
        self._out.print()
        self._out.print(Text(text, style="bold"))
        self._out.print(Text("-" * len(text), style="dim"))

    def _say(self, text: str) -> None:
        self._out.print(Text(clean(text)), soft_wrap=False)

    def _row(self, text: str) -> None:
        """One line of a list or a file, cut where the screen ends."""
        self._out.print(Text(clean(text)), no_wrap=True, overflow="ellipsis")

    def _quote(self, text: str, mark: str = " ") -> None:
        """Foreign words: one paragraph, indented, a few lines at most."""
        self._hanging(f"  {mark} ", text, style="italic")

    def _pairs(self, pairs: Iterable[tuple[str, list[str]]]) -> None:
        for name, values in pairs:
            for number, value in enumerate(value for value in values if value):
                self._hanging(f"  {name if number == 0 else '':<11}", value)

    def _hanging(self, first: str, text: str, style: str = "") -> None:
        """A paragraph whose later lines stand under its first word."""
        lines = textwrap.wrap(clean(" ".join(text.split())), self._out.width - len(first) - 4)
        for number, line in enumerate(lines[:_LINES_OF_TEXT]):
            more = " ..." if number == _LINES_OF_TEXT - 1 and len(lines) > _LINES_OF_TEXT else ""
            begin = first if number == 0 else " " * len(first)
            self._out.print(Text(begin).append(line + more, style=style), no_wrap=True, overflow="ignore")

    def _bar(self, name: str, tokens: int, whole: int, style: str) -> None:
        length = max(1, round(BAR * tokens / whole)) if whole else 1
        bar = Text(f"  {name:<7}")
        bar.append("#" * length, style=style)
        bar.append(f" {tokens:,}")
        self._out.print(bar)


def _telling(files: list[Path]) -> Path | None:
    """The file to show in full: what a person would look at first."""
    for wanted in ("mistakes.md", "preferences.md", "procedures.md", "project.md", "MEMORY.md"):
        for path in files:
            if path.name == wanted and path.stat().st_size:
                return path
    return None
