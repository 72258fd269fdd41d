"""`reverie eval`: the text after a transcript, and the continuity and frequency reports as table, JSON and picture."""

from __future__ import annotations

import json as jsonlib
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, fields, is_dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from reverie.errors import NotFound, ReverieError, ValidationError
from reverie.files import write_atomic
from reverie.private_folder import make_private
from reveried.cli.command import Answer, Argument, Option, Paths
from reveried.cli.output import clean, counted, print_fields, print_table, say, step_progress

if TYPE_CHECKING:
    from reverie.evals.continuity import Mean, Report, Row
    from reverie.evals.frequency import Frequency
    from reverie.evals.memory_use import FutureUse
    from reverie.evals.memory_use import Row as UseRow
    from reverie.language_model.requests import ModelAnswer, ModelRequest

DEFAULT_TOKENS = 16_000
WINDOW = 200_000  # tokens of the model's context window
UNREAD_SHOWN = 10  # unreadable files that are named on standard error
SPLIT = 50  # percent of the sessions that are learnt from
Split = Annotated[int, Option("--split", min=1, max=99, metavar="PERCENT", help="Learn from so many of the sessions.")]
File = Annotated[Path, Argument("FILE", "A session file, plain, .gz or .zst.")]
MaxTokens = Annotated[int, Option("--max-tokens", min=1, help="The most tokens of the text.")]


def eval_context(file: File, max_tokens: MaxTokens = DEFAULT_TOKENS) -> Answer:
    """Print the context an agent would get after a transcript.

    Example: reverie eval context session.jsonl
    """
    from reverie.evals import after_transcript

    return _text_after("context", file, max_tokens, after_transcript.context_text)


def eval_knowledge(
    file: File,
    max_tokens: MaxTokens = DEFAULT_TOKENS,
    spool: Annotated[
        Path | None, Option("--spool", metavar="DIR", help="Use a model's answers in this folder; write what has none.")
    ] = None,
) -> Answer:
    """Print the summary and the memories extracted from a transcript.

    Example: reverie eval knowledge session.jsonl
    """
    from reverie.evals import after_transcript

    waiting: list[ModelRequest] = []

    def ask(request: ModelRequest) -> ModelAnswer | None:
        assert spool is not None
        answer = _answer_or_request(spool, request)
        waiting.extend([] if answer else [request])
        return answer

    make_text = partial(after_transcript.knowledge_text, ask=None if spool is None else ask)
    for text in _text_after("knowledge", file, max_tokens, make_text):
        if waiting:
            waits = f"{counted(len(waiting), 'request')} in {spool}/requests without an answer"
            print(f"{waits}: decided by rule, or empty.", file=sys.stderr)
        yield text


def _text_after(what: str, path: Path, max_tokens: int, make_text: Callable[[Path, int], str]) -> Answer:
    """Print the text of one transcript, at most `max_tokens` long with its last newline."""
    from reverie import tokenizer
    from reverie.importers import find

    if not path.is_file():
        raise NotFound(f"{path} is not a file", hint="give a session file (*.jsonl, also .gz or .zst)")
    find.read_identity(path)  # refuses what is no session, as the import does
    text = make_text(path, max_tokens)
    if text and not text.endswith("\n"):
        if max_tokens > 1 and tokenizer.count(text + "\n") > max_tokens:
            text = make_text(path, max_tokens - 1)  # leaves room for the newline
        text = text if text.endswith("\n") else text + "\n"
    yield {"what": what, "file": str(path), "tokens": tokenizer.count(text), "maxTokens": max_tokens, "text": text}
    sys.stdout.write(text)


def _answer_or_request(folder: Path, request: ModelRequest) -> ModelAnswer | None:
    """Return the answer that `answers/ID.*` has for a request; without one, write it to `requests/ID.json`."""
    from reveried.models.command import prompt_text, read_output

    for answer in sorted((folder / "answers").glob(f"{request.id}.*")):
        return read_output(answer.read_bytes(), request, "spool")
    for name in ("requests", "answers"):
        make_private(folder / name)
    content = {**msgspec.to_builtins(request), "prompt": prompt_text(request)}
    text = jsonlib.dumps(content, ensure_ascii=False, indent=1)
    write_atomic(folder / "requests" / f"{request.id}.json", text.encode())
    return None


def eval_continuity(
    paths: Paths,
    budgets: Annotated[
        str, Option("--budgets", metavar="TOKENS,...", help="Sizes of context to measure.")
    ] = "4000,8000,16000,32000",
    cuts: Annotated[
        int, Option("--cuts", min=0, max=100, help="Cut a session without compactions at so many points.")
    ] = 0,
    svg: Annotated[Path | None, Option("--svg", metavar="FILE", help="Write the figures as a picture.")] = None,
) -> Answer:
    """Measure what survives of sessions when they are distilled.

    Example: reverie eval continuity ~/.claude/projects --svg kept.svg
    """
    from reverie.evals import continuity
    from reverie.files import write_atomic

    sizes = parse_budgets(budgets)
    if svg is not None and not svg.absolute().parent.is_dir():
        raise NotFound(f"{svg.parent} is not a folder", hint="give --svg a file in an existing folder")
    sessions = session_files(paths)
    with step_progress("Measuring", len(sessions)) as step:
        report = continuity.continuity(sessions, budgets=sizes, points=cuts, on_file=step)
    if svg is not None:
        write_atomic(svg, continuity.svg(report).encode())  # before the last line says where it is
    print_unread(report.unread)
    yield _continuity_json(report)
    _print_continuity(report)
    if svg is not None:
        say(f"\nThe picture is in {svg}")


def eval_frequency(
    paths: Paths,
    window: Annotated[int, Option("--window", min=1, metavar="TOKENS", help="The model's window.")] = WINDOW,
) -> Answer:
    """Count distillations with and without context editing.

    Example: reverie eval frequency ~/.claude/projects
    """
    from reverie.context.inputs import Limits
    from reverie.evals import frequency
    from reverie.importers import find, join

    files = session_files(paths)
    sessions, unread = [], []
    with step_progress("Reading", len(files)) as step:
        for path in files:
            try:
                find.read_identity(path)  # refuses what is no session
                sessions.append(join.main_line(list(find.read_entries(path, tokens=False))))
            except ReverieError as error:
                unread.append((str(path), error.message))
            step()
    print_unread(unread)
    result = frequency.frequency(frequency.one_thread(sessions), Limits(window=window))
    report = _frequency_json(result, len(sessions), unread)
    yield report
    _print_frequency(report)


def parse_budgets(text: str) -> tuple[int, ...]:
    """Parse `4000,8000` into ascending numbers.

    Raises:
        ValidationError: a part is no whole number above 0.
    """
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise ValidationError(
            f"--budgets must be whole numbers above 0 with commas between, not {text!r}",
            hint="for example --budgets 4000,8000",
        )
    return tuple(sorted({int(part) for part in parts}))


def session_files(paths: Sequence[Path]) -> list[Path]:
    """Return the session files at the paths.

    Raises:
        NotFound: there are none.
    """
    from reverie.importers import find

    files = find.find_transcripts(paths)
    if not files:
        raise NotFound("no session files there", hint="give *.jsonl files, plain, .gz or .zst, or a folder of them")
    return files


def print_unread(unread: Sequence[tuple[str, str]]) -> None:
    """Name the first unreadable files on standard error, and count the others."""
    for _, why in unread[:UNREAD_SHOWN]:
        sys.stderr.write(f"left out: {clean(why)}\n")
    if len(unread) > UNREAD_SHOWN:
        sys.stderr.write(f"left out: {len(unread) - UNREAD_SHOWN} more\n")


def _print_continuity(report: Report) -> None:
    """Print the continuity report as two tables: by method and budget, and by tier."""
    needed = f"{report.needed_median:g}"
    say(f"{counted(report.sessions, 'session')}, {counted(report.cuts, 'cut')}; names needed after one: {needed}")
    say("Percent, mean over sessions ± one standard error.\n")
    print_table(
        "Method, Budget>, In context>, Needed>, Asked>, Tokens (median)>, (most)>",
        [_continuity_row(row) for row in report.rows],
        drop=(6, 5),
    )
    say("\nIn context: of the names that the work used later, those that occur beside the same words as before.")
    say("Needed: those that occur at all. Asked: of the person's last six messages, the sequences of four words.\n")
    print_table(
        "Budget>, Tier, Tokens (mean)>, In context>",
        [(f"{tier.budget:,}", tier.tier, f"{tier.tokens:,.0f}", f"{tier.in_context:.1f}") for tier in report.tiers],
    )


def _continuity_row(row: Row) -> tuple[str, ...]:
    budget = f"{row.budget:,}" if row.budget is not None else "-"
    means = (_mean_text(row.in_context), _mean_text(row.needed), _mean_text(row.asked))
    return (row.way, budget, *means, f"{row.tokens_median:,}", f"{row.tokens_max:,}")


def _mean_text(mean: Mean | None) -> str:
    """Format a mean with its standard error: `61.2 ± 3.4`; a dash for None."""
    if mean is None:
        return "-"
    return f"{mean.percent:.1f}" if mean.error is None else f"{mean.percent:.1f} ± {mean.error:.1f}"


def _continuity_json(report: Report) -> dict[str, Any]:
    """Return the continuity report as JSON values."""
    from reverie import tokenizer

    return {
        "sessions": report.sessions,
        "events": report.cuts,
        "neededMedian": report.needed_median,
        "tokenizer": tokenizer.TOKENIZER,
        "rows": [_camel(row) for row in report.rows],
        "tiers": [{**_camel(tier), "tokens": round(tier.tokens, 1)} for tier in report.tiers],
        "unread": unread_json(report.unread),
    }


def _camel(value: Any) -> Any:
    """Return a dataclass with the names and the two decimals that the JSON has."""
    if not is_dataclass(value):
        return round(value, 2) if isinstance(value, float) else value
    names = (field.name for field in fields(value))
    return {re.sub("_(.)", lambda found: found[1].upper(), name): _camel(getattr(value, name)) for name in names}


def unread_json(unread: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    """Return the unreadable files with their reasons as JSON values."""
    return [{"file": path, "why": why} for path, why in unread]


def _frequency_json(result: Frequency, sessions: int, unread: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Return the frequency report as JSON values, with every parameter it depends on."""
    from reverie import tokenizer
    from reverie.evals import frequency

    limits = result.limits
    return {
        "sessions": sessions,
        "messages": result.messages,
        "tokens": result.tokens,
        "withoutEditing": result.without_editing,
        "withEditing": result.with_editing,
        "fewer": round(result.fewer, 4) if result.fewer is not None else None,
        "parameters": {
            "window": limits.window,
            "distilAt": result.threshold,
            "clearAt": int(limits.window * limits.trigger),
            "clearAtLeast": int(limits.window * limits.clear_at_least),
            "keepToolUses": limits.keep_tool_uses,
            "keepThinkingTurns": limits.keep_thinking_turns,
            "beside": frequency.BESIDE,
            "afterDistillation": result.after,
            "preserveMessages": limits.preserve_messages,
            "preserveTokens": limits.preserve_tokens,
            "tokenizer": tokenizer.TOKENIZER,
        },
        "unread": unread_json(unread),
    }


def _print_frequency(report: dict[str, Any]) -> None:
    """Print the frequency report: the counts, then the parameters."""
    used = report["parameters"]
    say(
        f"{counted(report['sessions'], 'session')} as one thread: {report['messages']:,} messages,"
        f" {report['tokens']:,} tokens\n"
    )
    print_table(
        "Distillations, >",
        [
            ("without context editing", f"{report['withoutEditing']:,}"),
            ("with context editing", f"{report['withEditing']:,}"),
            ("fewer", f"{report['fewer']:.1%}" if report["fewer"] is not None else "-"),
        ],
    )
    say("\nParameters")
    preserved = f"{used['preserveTokens']:,} of them preserved at most"
    print_fields(
        ("window", f"{used['window']:,} tokens ({used['tokenizer']})"),
        ("distilled at", f"{used['distilAt']:,} tokens"),
        ("cleared at", f"{used['clearAt']:,} tokens, if that frees {used['clearAtLeast']:,}"),
        ("not cleared", f"the last {used['keepToolUses']} tool uses, thinking of {used['keepThinkingTurns']} turns"),
        ("other context", f"{used['beside']:,} tokens before the first distillation"),
        ("after one", f"{used['afterDistillation']:,} tokens, {preserved}"),
    )


def eval_memories(paths: Paths, split: Split = SPLIT) -> Answer:
    """Measure how often later sessions use or contradict the memories of earlier ones.

    Example: reverie eval memories ~/.claude/projects

    A later session uses a memory where it runs a command that the memory names, and it passes, edits a file that it
    names, or where the person wishes the same again. It contradicts one where they wish the opposite, or run another
    command for the same purpose. A memory counts for what more of the sessions of its project did. The score is
    used - 2 x contradicted - 0.2 x written.
    """
    from reverie.evals import memory_use

    files = session_files(paths)
    with step_progress("Reading", len(files)) as step:
        result = memory_use.future_use(files, share=split / 100, on_file=step)
    print_unread(result.unread)
    yield _as_json(result, split)
    memories = counted(result.total.written, "memory", "memories")
    after = counted(result.after, "later session")
    say(f"{memories} of {counted(result.before, 'session')}, against {after}\n")
    print_table(
        "Type, Project, Written>, Used>, Contradicted>, Score>", [_cells(row) for row in (*result.rows, result.total)]
    )
    say("\nScore: used - 2 x contradicted - 0.2 x written.")


def _cells(row: UseRow) -> tuple[str, ...]:
    """Return one row of the table as texts; the project column of the person's own memories has a dash."""
    return (
        row.type,
        row.project or "-",
        f"{row.written:,}",
        f"{row.used:,}",
        f"{row.contradicted:,}",
        f"{row.score:.1f}",
    )


def _as_json(result: FutureUse, split: int) -> dict[str, Any]:
    """Return the result as JSON values; the project of the person's own memories is null."""
    from reverie.evals.memory_use import CONTRADICTED_COST, WRITTEN_COST

    return {
        "before": result.before,
        "after": result.after,
        "rows": [_row_json(row) for row in result.rows],
        "total": _row_json(result.total),
        "parameters": {"split": split, "contradictedCost": CONTRADICTED_COST, "writtenCost": WRITTEN_COST},
        "unread": unread_json(result.unread),
    }


def _row_json(row: UseRow) -> dict[str, Any]:
    return {**asdict(row), "project": row.project or None, "score": round(row.score, 2)}
