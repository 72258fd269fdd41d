"""`reverie completion`: scripts with which bash, zsh and fish complete commands and options."""

from __future__ import annotations

from typing import Annotated, Literal

from click import shell_completion

from reveried.cli.command import Answer, Argument
from reveried.cli.output import print_text


def completion(shell: Annotated[Literal["bash", "zsh", "fish"], Argument("SHELL", "bash, zsh or fish.")]) -> Answer:
    """Print the completion script for a shell.

    Example: reverie completion bash > ~/.local/share/bash-completion/completions/reverie
    """
    from reveried.cli.tree import COMPLETE, tree

    made = shell_completion.get_completion_class(shell)
    assert made is not None
    script = made(tree(), {}, "reverie", COMPLETE).source()
    yield {"shell": shell, "script": script}
    print_text(script)
