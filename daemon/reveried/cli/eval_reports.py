"""`reverie eval continuity` and `reverie eval frequency`: what they measure as a table, as JSON, as a picture."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from reverie import tokens
from reverie.context import Limits
from reverie.errors import NotFound, ReverieError, ValidationError
from reverie.evals import continuity, frequency, picture
from reverie.files import write_atomic
from reverie.importers import files, messages
from reveried.cli.output import as_json, clean, counted, fields, say, table
from reveried.cli.progress import steps

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from reverie.evals.continuity import Report, Row
    from reverie.evals.measures import Mean

__all__ = ["budgets_of", "show_continuity", "show_frequency"]

UNREAD_SHOWN = 10


def budgets_of(text: str) -> tuple[int, ...]:
    """`4000,8000` as numbers, ascending.

    Raises:
        ValidationError: something in it is no whole number above 0.
    """
    given = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and int(part) > 0 for part in given):
        raise ValidationError(
            f"--budgets must be whole numbers above 0 with commas between, not {text!r}",
            hint="for example --budgets 4000,8000",
        )
    return tuple(sorted({int(part) for part in given}))


def show_continuity(paths: Sequence[Path], *, budgets: Sequence[int], cuts: int, svg: Path | None, json: bool) -> None:
    """Measure, then print; the picture is written first, so that what is printed last is true."""
    if svg is not None and not svg.absolute().parent.is_dir():
        raise NotFound(f"{svg.parent} is not a folder", hint="give --svg a file in a folder that is there")
    found = _sessions(paths)
    with steps("Measuring", len(found), quiet=json) as step:
        report = continuity.continuity(found, budgets=budgets, cuts=cuts, each=step)
    if svg is not None:
        write_atomic(svg, picture.svg(report).encode())
    _complain_of(report.unread)
    if json:
        as_json(_report_json(report))
        return
    _tables(report)
    if svg is not None:
        say(f"\nThe picture is in {svg}")


def show_frequency(paths: Sequence[Path], *, window: int, json: bool) -> None:
    """Replay the sessions as one thread, then print how often it was distilled."""
    found = _sessions(paths)
    sessions, unread = [], []
    with steps("Reading", len(found), quiet=json) as step:
        for path in found:
            try:
                sessions.append(messages.main_line(list(files.read_entries(path, tokens=False))))
            except ReverieError as error:
                unread.append((str(path), error.message))
            step()
    made = frequency.frequency(frequency.one_thread(sessions), Limits(window=window))
    _complain_of(unread)
    told = _frequency_json(made, len(sessions), unread)
    if json:
        as_json(told)
        return
    _frequency_text(told)


def _sessions(paths: Sequence[Path]) -> list[Path]:
    found = files.find_transcripts(paths)
    if not found:
        raise NotFound("no session files there", hint="give *.jsonl or *.jsonl.gz files, or a folder of them")
    return found


def _complain_of(unread: Sequence[tuple[str, str]]) -> None:
    for _, why in unread[:UNREAD_SHOWN]:
        sys.stderr.write(f"left out: {clean(why)}\n")
    if len(unread) > UNREAD_SHOWN:
        sys.stderr.write(f"left out: {len(unread) - UNREAD_SHOWN} more\n")


def _tables(report: Report) -> None:
    needed = f"{report.needed_median:g}"
    say(f"{counted(report.sessions, 'session')}, {counted(report.events, 'cut')}; names needed after one: {needed}")
    say("Percent, mean over sessions ± one standard error.\n")
    table(
        ["Goes on with", "Budget", "In context", "Needed", "Asked", "Tokens (median)", "(most)"],
        [_row(row) for row in report.rows],
        right=(1, 2, 3, 4, 5, 6),
        drop=(6, 5),
    )
    say("\nIn context: of the names that the work went on to use, those that stand with words they stood with before.")
    say(
        "Needed: those that occur at all. Asked: of the last six things the person said, the sequences of four words.\n"
    )
    table(
        ["Budget", "Tier", "Tokens (mean)", "In context"],
        [(f"{each.budget:,}", each.tier, f"{each.tokens:,.0f}", f"{each.kept:.1f}") for each in report.tiers],
        right=(0, 2, 3),
    )


def _row(row: Row) -> tuple[str, ...]:
    budget = f"{row.budget:,}" if row.budget is not None else "-"
    means = (_shown(row.in_context), _shown(row.needed), _shown(row.asked))
    return (row.way, budget, *means, f"{row.tokens_median:,}", f"{row.tokens_max:,}")


def _shown(mean: Mean | None) -> str:
    if mean is None:
        return "-"
    return f"{mean.percent:.1f}" if mean.error is None else f"{mean.percent:.1f} ± {mean.error:.1f}"


def _report_json(report: Report) -> dict[str, Any]:
    return {
        "sessions": report.sessions,
        "events": report.events,
        "neededMedian": report.needed_median,
        "tokenizer": tokens.TOKENIZER,
        "rows": [
            {
                "way": row.way,
                "budget": row.budget,
                "inContext": _mean_json(row.in_context),
                "needed": _mean_json(row.needed),
                "asked": _mean_json(row.asked),
                "tokensMedian": row.tokens_median,
                "tokensMax": row.tokens_max,
            }
            for row in report.rows
        ],
        "tiers": [
            {
                "budget": each.budget,
                "tier": each.tier,
                "tokens": round(each.tokens, 1),
                "inContext": round(each.kept, 2),
            }
            for each in report.tiers
        ],
        "unread": _unread_json(report.unread),
    }


def _mean_json(mean: Mean | None) -> dict[str, float | None] | None:
    if mean is None:
        return None
    return {"percent": round(mean.percent, 2), "error": None if mean.error is None else round(mean.error, 2)}


def _unread_json(unread: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"file": path, "why": why} for path, why in unread]


def _frequency_json(made: frequency.Frequency, sessions: int, unread: Sequence[tuple[str, str]]) -> dict[str, Any]:
    limits = made.limits
    return {
        "sessions": sessions,
        "messages": made.messages,
        "tokens": made.tokens,
        "withoutEditing": made.without_editing,
        "withEditing": made.with_editing,
        "fewer": round(made.fewer, 4) if made.fewer is not None else None,
        "parameters": {
            "window": limits.window,
            "distilAt": made.threshold,
            "clearAt": int(limits.window * limits.trigger),
            "clearAtLeast": int(limits.window * limits.clear_at_least),
            "keepToolUses": limits.keep_tool_uses,
            "keepThinkingTurns": limits.keep_thinking_turns,
            "beside": frequency.BESIDE,
            "afterDistillation": made.after,
            "preserveMessages": limits.preserve_messages,
            "preserveTokens": limits.preserve_tokens,
            "tokenizer": tokens.TOKENIZER,
        },
        "unread": _unread_json(unread),
    }


def _frequency_text(told: dict[str, Any]) -> None:
    used = told["parameters"]
    say(
        f"{counted(told['sessions'], 'session')} as one thread: {told['messages']:,} messages,"
        f" {told['tokens']:,} tokens\n"
    )
    table(
        ["Distillations", ""],
        [
            ("without context editing", f"{told['withoutEditing']:,}"),
            ("with context editing", f"{told['withEditing']:,}"),
            ("fewer", f"{told['fewer']:.1%}" if told["fewer"] is not None else "-"),
        ],
        right=(1,),
    )
    say("\nParameters")
    fields(
        [
            ("window", f"{used['window']:,} tokens ({used['tokenizer']})"),
            ("distilled at", f"{used['distilAt']:,} tokens"),
            ("cleared at", f"{used['clearAt']:,} tokens, if that frees {used['clearAtLeast']:,}"),
            ("kept", f"the last {used['keepToolUses']} tool uses, thinking of {used['keepThinkingTurns']} turns"),
            ("beside the talk", f"{used['beside']:,} tokens before the first distillation"),
            (
                "after one",
                f"{used['afterDistillation']:,} tokens, {used['preserveTokens']:,} of them preserved at most",
            ),
        ]
    )
