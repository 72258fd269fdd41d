"""Pages of the demo: short texts and bars that read as well in a pipe as on a terminal."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from rich.text import Text

from reverie.evals.continuity import CLIENT, REVERIE, TAIL, TALK
from reveried.cli.imports import replaced
from reveried.cli.output import clean, console, counted, size

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from rich.console import Console

    from reverie import wire
    from reverie.evals.continuity import Report as Measured
    from reveried.cli.send_sessions import FileReport
    from reveried.demo.steps import DemoResult, Selection

WIDTH_MAX = 96  # characters: longer lines of prose are hard to read
BAR_CHARS = 34  # of the longest bar; leaves room for name and value in 80 columns
_BAR_NAME_CHARS = 22
_FILE_LINES_MAX = 12
_TEXT_LINES_MAX = 3
_MEMORIES_PER_TYPE = 3
_TIERS = (
    ("bootstrap", "bootstrap", "documents that open every context"),
    ("digest", "digest", "who the agent works with, and their usual requests"),
    ("working_state", "working state", "task, steps, decisions, open files"),
    ("notes", "notes", "written by the agent with the tool `note`"),
    ("recall", "memories", "memories of earlier sessions that match the task"),
    ("summary", "summary", "the older messages in seven short sections"),
    ("excerpts", "excerpts", "passages that the work still needs, verbatim"),
    ("tail", "tail", "the last messages, unchanged"),
    ("index", "index", "what else can be looked up"),
)
_WAYS = {REVERIE: "Reverie", TAIL: "the last messages", CLIENT: "the client's summary"}
_TYPES = {
    "mistake": "mistakes to avoid",
    "preference": "preferences",
    "procedure": "procedures",
    "fact": "facts",
    "observation": "observations",
    "skill": "skills",
    "episode": "finished work",
}


class Report:
    """Prints the demo to the console, one section for each step."""

    def __init__(self, out: Console | None = None) -> None:
        self._out = out if out is not None else console()
        self._out.width = min(self._out.width, WIDTH_MAX)

    def print_introduction(self, selection: Selection, home: Path) -> None:
        """Print what the demo does, and with which session."""
        self._heading("Reverie demo: memory that survives a full context window")
        self._paragraph(
            "When the context window of an AI agent is full, its older messages are dropped, and with them decisions, "
            "open steps and failed attempts. Reverie distills them before that: it replaces them by a summary, a "
            "working state and verbatim excerpts, and extracts memories into markdown files."
        )
        self._paragraph(
            f"This demo runs on {selection.description}, with a temporary daemon in {home}. "
            "Your own files are not changed."
        )

    def print_import(self, reports: list[FileReport], thread: wire.Thread) -> None:
        """Print how many lines, files and messages were imported, secrets redacted, and files left out."""
        self._heading("1. Import the session")
        lines = sum(report.lines for report in reports)
        self._paragraph(
            f"{counted(lines, 'line')} from {counted(len(reports), 'file')}; "
            f"the {'longest ' if len(reports) > 1 else ''}thread has {counted(thread.message_count, 'message')}."
        )
        if thread.title:
            self._quote(f"Title: {thread.title}")
        if line := replaced(reports):
            self._paragraph(line)
        for report in reports:
            if report.error is not None:
                self._paragraph(f"Left out: {report.path}: {report.error}")

    def print_context(self, result: DemoResult) -> None:
        """Print the size of the context before and after, and the cost of each tier."""
        self._heading("2. Distill: the context before and after")
        tokens, longest = result.context.tokens, max(result.before.tokens, result.context.tokens.total)
        for name, total, style in (("before", result.before.tokens, "red"), ("after", tokens.total, "green")):
            self._bar(name, f"{total:,}", total / longest if longest else 0, style)
        share = tokens.total / result.before.tokens if result.before.tokens else 1.0
        self._line("")
        self._paragraph(
            f"Sizes are in tokens ({tokens.tokenizer}). The new context has {share:.0%} of the tokens, in these parts:"
        )
        for field, name, meaning in _TIERS:
            cost = getattr(tokens, field)
            if cost:
                self._line(f"{cost:>8,}  {name:<17} {meaning}")
        self._line("")
        self._paragraph("Every message is still stored, word for word, and can be looked up.")

    def print_working_state(self, state: wire.WorkingState) -> None:
        """Print the working state: task, steps, decisions, files, blockers."""
        self._heading("3. Working state of the thread")
        self._fields(
            [
                ("Task", [state.current_task]),
                ("Done", state.completed_steps[-4:]),
                ("Next", state.next_steps[:3]),
                ("Decided", state.recent_decisions[-3:]),
                ("Files", [", ".join(state.open_files[-5:])]),
                ("Blocked by", state.blockers[:3]),
            ]
        )

    def print_memories(self, result: DemoResult) -> None:
        """Print the extracted memories by type, with their files."""
        self._heading("4. Memories extracted from the session")
        if not result.memories:
            self._paragraph("None: the session has no lesson, preference or fact worth a memory.")
            return
        for kind, heading in _TYPES.items():
            memories = [memory for memory in result.memories if memory.type == kind]
            if not memories:
                continue
            files = sorted({memory.document for memory in memories})
            self._line(f"{heading.capitalize()} ({len(memories)}), in {', '.join(files)}:")
            for memory in memories[:_MEMORIES_PER_TYPE]:
                self._quote(memory.title or memory.content, mark="-")
            if len(memories) > _MEMORIES_PER_TYPE:
                self._line(f"    and {len(memories) - _MEMORIES_PER_TYPE} more")

    def print_recall(self, question: str, answer: wire.RecallAnswer) -> None:
        """Print one search for memories and its hits."""
        self._heading("5. Search the memories")
        self._quote(question, mark=">")
        if not answer.hits:
            self._line("    No memory matches that.")
        for hit in answer.hits:
            self._quote(
                f"{hit.memory.title or hit.memory.content}  [{hit.memory.type}, {hit.memory.document}]", mark="-"
            )

    def print_files(self, root: Path) -> None:
        """Print the list of files, and the beginning of the most instructive one."""
        files = sorted(path for path in root.rglob("*") if path.is_file() and ".reverie" not in path.parts)
        self._heading("6. The files")
        if not files:
            self._paragraph("None yet: memories are written into files, and this session gave none.")
        for path in files:
            self._line(f"{size(path.stat().st_size):>10}  {path.relative_to(root)}")
        shown = _most_instructive(files)
        if shown is not None:
            self._line("")
            self._paragraph(f"{shown.relative_to(root)}:")
            for line in shown.read_text(encoding="utf-8").splitlines()[:_FILE_LINES_MAX]:
                self._line(f"    | {line}")

    def print_measured(self, measured: Measured | None) -> None:
        """Print how many of the names that the session went on to use are in contexts of one size, as bars."""
        self._heading("7. Measured on this session")
        if measured is None:
            self._paragraph("It is too short: there is not enough work after any point at which it could be distilled.")
            return
        self._paragraph(
            f"The session was cut at {counted(measured.cuts, 'point')}, and contexts made of what came before. Of the "
            "names (files, functions, commits) that the work went on to use, a context has beside the words that they "
            "belong to:"
        )
        for row in measured.rows:
            if row.way != TALK:
                share = row.in_context.percent
                self._bar(_WAYS.get(row.way, row.way), f"{share:.0f} % in {row.tokens_median:,} tokens", share / 100)

    def print_next_steps(self, home: Path, root: Path, pid: int, *, keep: bool) -> None:
        """Print how to reach and stop a kept daemon, or how to start for good."""
        self._heading("Next steps")
        if keep:
            self._paragraph("The daemon is still running. To look around:")
            self._line(f"    export REVERIE_HOME={home}")
            self._line("    reverie status; reverie memories; reverie log")
            self._line(f"    ls {root}")
            self._paragraph(f"To stop and remove it: reverie down; rm -r {home}  (the daemon is process {pid})")
        else:
            self._paragraph("The temporary folder is removed; with reverie demo --keep it stays. To start for good:")
            self._line("    reverie up")
            self._line("    reverie import claude-code ~/.claude/projects")

    def _heading(self, text: str) -> None:
        """Print an underlined heading after an empty line."""
        self._out.print()
        self._out.print(Text(text, style="bold"))
        self._out.print(Text("-" * len(text), style="dim"))

    def _paragraph(self, text: str) -> None:
        """Print a wrapped paragraph."""
        self._out.print(Text(clean(text)), soft_wrap=False)

    def _line(self, text: str) -> None:
        """Print one line of a list or file, cut at the width of the screen."""
        self._out.print(Text(clean(text)), no_wrap=True, overflow="ellipsis")

    def _quote(self, text: str, mark: str = " ") -> None:
        """Print a text from the session as one indented paragraph of at most _TEXT_LINES_MAX lines."""
        self._hanging(f"  {mark} ", text, style="italic")

    def _fields(self, fields: Iterable[tuple[str, list[str]]]) -> None:
        """Print each name with its list of values; empty values are left out."""
        for name, values in fields:
            for number, value in enumerate(value for value in values if value):
                self._hanging(f"  {name if number == 0 else '':<11}", value)

    def _hanging(self, first: str, text: str, style: str = "") -> None:
        """Print a paragraph with a hanging indent: later lines begin below the first word of `text`."""
        lines = textwrap.wrap(clean(" ".join(text.split())), self._out.width - len(first) - 4)
        for number, line in enumerate(lines[:_TEXT_LINES_MAX]):
            more = " ..." if number == _TEXT_LINES_MAX - 1 and len(lines) > _TEXT_LINES_MAX else ""
            begin = first if number == 0 else " " * len(first)
            self._out.print(Text(begin).append(line + more, style=style), no_wrap=True, overflow="ignore")

    def _bar(self, name: str, value: str, share: float, style: str = "green") -> None:
        """Print a bar with its name and value; `share` is its length, 0 to 1 of the longest bar."""
        bar = Text(f"  {name:<{_BAR_NAME_CHARS}}")
        bar.append("#" * max(1, round(BAR_CHARS * share)), style=style)
        bar.append(f" {value}")
        self._out.print(bar)


def _most_instructive(files: list[Path]) -> Path | None:
    """Return the file to show in full: the first of mistakes, preferences, procedures and so on that is not empty."""
    for name in ("mistakes.md", "preferences.md", "procedures.md", "project.md", "MEMORY.md"):
        for path in files:
            if path.name == name and path.stat().st_size:
                return path
    return None
