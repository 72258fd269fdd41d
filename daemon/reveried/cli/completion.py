"""`reverie completion`: scripts with which bash, zsh and fish complete commands and options."""

from typing import Annotated

from click import shell_completion

from reverie.errors import ValidationError
from reveried.cli.command import Answer, Argument
from reveried.cli.output import clip, print_text

_SHELLS = ("bash", "zsh", "fish")


def completion(shell: Annotated[str, Argument("SHELL", "bash, zsh or fish.")]) -> Answer:
    """Print the completion script for a shell.

    Example: reverie completion bash > ~/.local/share/bash-completion/completions/reverie
    """
    from reveried.cli.tree import COMPLETE, tree  # noqa: PLC0415 - the tree imports this module

    made = shell_completion.get_completion_class(shell) if shell in _SHELLS else None
    if made is None:
        raise ValidationError(f"there is no completion for {clip(shell, 40)}", hint=f"give {', '.join(_SHELLS)}")
    script = made(tree(), {}, "reverie", COMPLETE).source()
    yield {"shell": shell, "script": script}
    print_text(script)
