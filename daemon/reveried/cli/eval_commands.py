"""The `eval` commands as the command tree lists them; `evaluate` does the work."""

from pathlib import Path
from typing import Annotated

import typer

from reveried.cli.evaluate import DEFAULT_TOKENS, measure
from reveried.cli.options import Json

__all__ = ["eval_context", "eval_knowledge"]

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
