"""`reverie completion`: scripts with which bash, zsh and fish complete commands and options.

The scripts have every command and option in them: completing a word starts no process.
"""

from typing import TYPE_CHECKING, Annotated, cast

import typer

from reverie.errors import ValidationError
from reveried.cli.options import Json
from reveried.cli.output import clip, print_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typer.core import TyperGroup

_SHELLS = ("bash", "zsh", "fish")
_HELP_CHARS = 60  # of a description beside a word


def completion(
    context: typer.Context,
    shell: Annotated[str, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")],
    json: Json = False,
) -> None:
    """Print the completion script for a shell.

    Example: reverie completion bash > ~/.local/share/bash-completion/completions/reverie
    """
    root = cast("TyperGroup", context.find_root().command)
    script = completion_script(shell, root)
    if json:
        print_json({"shell": shell, "script": script})
        return
    typer.echo(script, nl=False)


def completion_script(shell: str, root: "TyperGroup") -> str:
    """Return the script of the commands below `root` for `bash`, `zsh` or `fish`.

    Raises:
        ValidationError: it is another shell.
    """
    scripts = {"bash": _bash, "zsh": _zsh, "fish": _fish}
    if shell not in scripts:
        raise ValidationError(f"there is no completion for {clip(shell, 40)}", hint=f"give {', '.join(_SHELLS)}")
    return scripts[shell](list(_words(root)))


Words = tuple[tuple[str, ...], list[tuple[str, str]]]  # the commands typed so far, and what can follow, each with help


def _words(root: "TyperGroup") -> "Iterator[Words]":
    """Yield the words that complete `reverie`, each command, and each command of a group."""
    yield (), [*_commands(root), *_options(root)]
    for name, command in root.commands.items():
        below = getattr(command, "commands", {})
        yield (name,), [*(_commands(cast("TyperGroup", command)) if below else ()), *_options(command)]
        for verb, inner in below.items():
            yield (name, verb), _options(inner)


def _commands(group: "TyperGroup") -> list[tuple[str, str]]:
    """Return the names of a group's commands with their first line of help."""
    return [(name, _line(command.help)) for name, command in group.commands.items()]


def _options(command: object) -> list[tuple[str, str]]:
    """Return the options of a command, in their long form where they have one, with their help."""
    parameters = getattr(command, "params", ())
    options = [item for item in parameters if item.opts and item.opts[0].startswith("-")]
    names = [(max(item.opts, key=len), _line(getattr(item, "help", None))) for item in options]
    return [*names, ("--help", "Show the usage.")]


def _line(text: str | None) -> str:
    """Return the first line of a help text, shortened."""
    return clip((text or "").partition("\n")[0], _HELP_CHARS)


def _quoted(text: str) -> str:
    """Return a text in single quotes, as all three shells read it."""
    return "'" + text.replace("'", "`") + "'"


def _bash(words: list[Words]) -> str:
    """Return the script for bash; where no word fits, files are completed."""
    cases = "\n".join(
        f"    {_quoted(' '.join(path))}) words={_quoted(' '.join(word for word, _ in following))} ;;"
        for path, following in words
    )
    return f"""\
# Completion of its commands for bash.
_reverie() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} path='' words='' word
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    [[ $word == -* ]] && continue
    path="${{path:+$path }}$word"
  done
  while :; do
    case $path in
{cases}
    esac
    [[ -n $words || -z $path ]] && break
    [[ $path == *' '* ]] && path=${{path% *}} || path=''
  done
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}}
complete -o default -F _reverie reverie
"""


def _zsh(words: list[Words]) -> str:
    """Return the script for zsh; where no word fits, files are completed."""

    def described(following: list[tuple[str, str]]) -> str:
        return " ".join(_quoted(f"{word}:{text.replace(':', '.')}") for word, text in following)

    cases = "\n".join(
        f"      {_quoted(' '.join(path))}) found=({described(following)}) ;;" for path, following in words
    )
    return f"""\
#compdef reverie
# Completion of its commands for zsh.
_reverie() {{
  local -a found
  local path_='' word
  for word in ${{words[2,CURRENT-1]}}; do
    [[ $word == -* ]] && continue
    path_="${{path_:+$path_ }}$word"
  done
  while true; do
    case $path_ in
{cases}
    esac
    (( $#found )) || [[ -z $path_ ]] && break
    [[ $path_ == *' '* ]] && path_=${{path_% *}} || path_=''
  done
  _describe 'reverie' found || _files
}}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _reverie "$@"; else compdef _reverie reverie; fi
"""


def _fish(words: list[Words]) -> str:
    """Return the script for fish."""
    lines = ["# Completion of its commands for fish."]
    for path, following in words:
        if not path:
            condition = "__fish_use_subcommand"
        elif len(path) == 1:
            condition = f"__fish_seen_subcommand_from {path[0]}"
        else:
            condition = f"__fish_seen_subcommand_from {path[0]}; and __fish_seen_subcommand_from {path[1]}"
        for word, text in following:
            form = f"-l {word[2:]}" if word.startswith("--") else f"-f -a {word}"
            lines.append(f"complete -c reverie -n {_quoted(condition)} {form} -d {_quoted(text)}")
    return "\n".join(lines) + "\n"
