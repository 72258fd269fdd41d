"""The `eval` commands as the command tree lists them; `evaluate` and `eval_reports` do the work."""

from pathlib import Path
from typing import Annotated

import typer

from reveried.cli.evaluate import DEFAULT_TOKENS, measure
from reveried.cli.options import Json, Paths

__all__ = ["eval_context", "eval_continuity", "eval_frequency", "eval_knowledge"]

WINDOW = 200_000

File = Annotated[Path, typer.Argument(metavar="FILE", help="A session file, plain or .gz.")]
MaxTokens = Annotated[int, typer.Option("--max-tokens", min=1, help="The most tokens that it may have.")]


def eval_context(file: File, max_tokens: MaxTokens = DEFAULT_TOKENS, json: Json = False) -> None:
    """Print the context an agent would get after a transcript.

    Example: reverie eval context session.jsonl
    """
    measure("context", file, max_tokens, json=json)


def eval_knowledge(file: File, max_tokens: MaxTokens = DEFAULT_TOKENS, json: Json = False) -> None:
    """Print what would be remembered of a transcript.

    Example: reverie eval knowledge session.jsonl
    """
    measure("knowledge", file, max_tokens, json=json)


def eval_continuity(
    paths: Paths,
    budgets: Annotated[
        str, typer.Option("--budgets", metavar="TOKENS,...", help="Sizes of context to measure.")
    ] = "4000,8000,16000,32000",
    cuts: Annotated[
        int, typer.Option("--cuts", min=0, max=100, help="Cut a session without compactions at so many points.")
    ] = 0,
    svg: Annotated[Path | None, typer.Option("--svg", metavar="FILE", help="Write a picture of it.")] = None,
    json: Json = False,
) -> None:
    """Measure what survives of sessions when they are distilled.

    Example: reverie eval continuity ~/.claude/projects --svg kept.svg
    """
    from reveried.cli.eval_reports import budgets_of, show_continuity  # noqa: PLC0415 - loads the engine

    show_continuity(paths, budgets=budgets_of(budgets), cuts=cuts, svg=svg, json=json)


def eval_frequency(
    paths: Paths,
    window: Annotated[int, typer.Option("--window", min=1, metavar="TOKENS", help="The model's window.")] = WINDOW,
    json: Json = False,
) -> None:
    """Count distillations with and without context editing.

    Example: reverie eval frequency ~/.claude/projects
    """
    from reveried.cli.eval_reports import show_frequency  # noqa: PLC0415 - loads the engine

    show_frequency(paths, window=window, json=json)
