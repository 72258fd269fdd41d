"""Command line `python -m reverie.evals context|knowledge FILE --max-tokens N`, which prints the text."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from reverie.evals.after_transcript import context_text, knowledge_text


def main(arguments: list[str] | None = None) -> int:
    """Print the context, or the summary and memories, made from one transcript; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m reverie.evals")
    parser.add_argument("what", choices=("context", "knowledge"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--max-tokens", type=int, default=16_000)
    options = parser.parse_args(arguments)
    make_text = context_text if options.what == "context" else knowledge_text
    sys.stdout.write(make_text(options.file, options.max_tokens))
    return 0


if __name__ == "__main__":
    sys.exit(main())
