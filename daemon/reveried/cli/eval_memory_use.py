"""`reverie eval memories`: what memories of earlier sessions were worth in later ones, as a table and as JSON."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from reveried.cli.evals import print_unread, session_files, unread_json
from reveried.cli.options import Json, Paths
from reveried.cli.output import counted, print_json, print_table, say, step_progress

if TYPE_CHECKING:
    from reverie.evals.memory_use import FutureUse, Row

SPLIT = 50  # percent of the sessions that are learnt from
Split = Annotated[
    int, typer.Option("--split", min=1, max=99, metavar="PERCENT", help="Learn from so many of the sessions.")
]


def eval_memories(paths: Paths, split: Split = SPLIT, json: Json = False) -> None:
    """Measure how often later sessions use or contradict the memories of earlier ones.

    Example: reverie eval memories ~/.claude/projects

    A later session uses a memory where it runs a command that the memory names, and it passes, edits a file that it
    names, or where the person wishes the same again. It contradicts one where they wish the opposite, or run another
    command for the same purpose. A memory counts for what more of the sessions of its project did. The score is
    used - 2 x contradicted - 0.2 x written.
    """
    from reverie.evals import memory_use  # noqa: PLC0415 - loads the engine

    files = session_files(paths)
    with step_progress("Reading", len(files), quiet=json) as step:
        result = memory_use.future_use(files, share=split / 100, on_file=step)
    print_unread(result.unread)
    if json:
        print_json(_as_json(result, split))
        return
    memories = counted(result.total.written, "memory", "memories")
    after = counted(result.after, "later session")
    say(f"{memories} of {counted(result.before, 'session')}, against {after}\n")
    print_table(
        ["Type", "Project", "Written", "Used", "Contradicted", "Score"],
        [_cells(row) for row in (*result.rows, result.total)],
        right=(2, 3, 4, 5),
    )
    say("\nScore: used - 2 x contradicted - 0.2 x written.")


def _cells(row: "Row") -> tuple[str, ...]:
    """Return one row of the table as texts; the project column of the person's own memories has a dash."""
    return (
        row.type,
        row.project or "-",
        f"{row.written:,}",
        f"{row.used:,}",
        f"{row.contradicted:,}",
        f"{row.score:.1f}",
    )


def _as_json(result: "FutureUse", split: int) -> dict[str, Any]:
    """Return the result as JSON values; the project of the person's own memories is null."""
    from reverie.evals.memory_use import CONTRADICTED_COST, WRITTEN_COST  # noqa: PLC0415 - loads the engine

    return {
        "before": result.before,
        "after": result.after,
        "rows": [_row_json(row) for row in result.rows],
        "total": _row_json(result.total),
        "parameters": {"split": split, "contradictedCost": CONTRADICTED_COST, "writtenCost": WRITTEN_COST},
        "unread": unread_json(result.unread),
    }


def _row_json(row: "Row") -> dict[str, Any]:
    return {
        "type": row.type,
        "project": row.project or None,
        "written": row.written,
        "used": row.used,
        "contradicted": row.contradicted,
        "score": round(row.score, 2),
    }
