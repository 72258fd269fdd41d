"""The mechanism of the commands: a command is a function of its options, and what it yields is its answer.

    def spaces(client: Client, limit: Limit = 20) -> Answer:
        page = client.spaces(limit=limit)
        yield page  # with --json it is printed, and the command ends here
        say(...)  # what follows is the text

The parameters become options and arguments by their annotations. A function that returns an Answer has --json too. A
parameter `client` is no option but a client of this user's daemon. Any other function does all by itself: what it
returns is the exit code.
"""

import inspect
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias, get_args, get_origin

import click

from reverie.errors import ValidationError
from reveried.cli import daemon_client
from reveried.cli.output import AS_JSON, clean, clip, print_json

Answer: TypeAlias = Generator[Any, None, None]


class Ended(NamedTuple):
    """An answer with which the command ends with another exit code than 0."""

    answer: Any
    status: int


class Argument(NamedTuple):
    """What help says of a positional argument; the annotation of the parameter has its type."""

    metavar: str
    help: str


class Option:
    """Names and bounds of an option; a `bool` is a flag."""

    def __init__(
        self,
        *names: str,
        help: str,  # noqa: A002 - as click calls it
        metavar: str | None = None,
        min: float | None = None,  # noqa: A002 - as above
        max: float | None = None,  # noqa: A002 - as above
    ) -> None:
        self.names, self.help, self.metavar, self.min, self.max = names, help, metavar, min, max


Json = Annotated[bool, Option("--json", help="Print JSON.")]
Limit = Annotated[int, Option("--limit", "-n", min=1, max=1000, help="How many to show at most.")]
Budget = Annotated[
    int | None, Option("--budget", min=1, metavar="TOKENS", help="At most this many tokens, input and output.")
]
Paths = Annotated[list[Path], Argument("PATH...", "Session files, or folders with session files.")]
Interval = Annotated[float, Option("--every", min=0.05, metavar="SECONDS", help="Poll interval of --follow.")]
Yes = Annotated[bool, Option("--yes", "-y", help="Do not ask.")]


class Command(click.Command):
    """A command whose help has a section for its arguments."""

    def __init__(self, name: str, function: Callable[..., Any], **settings: Any) -> None:
        signature = inspect.signature(function, eval_str=True)
        self._function, self._names = function, signature.parameters
        self._yields = signature.return_annotation == Answer
        options = [item for name, item in self._names.items() if name != "client"]
        if self._yields and "json" not in self._names:
            options.append(inspect.Parameter("json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Json))
        super().__init__(
            name,
            callback=self.run,
            params=[_parameter(item) for item in options],
            help=inspect.getdoc(function),
            context_settings={"help_option_names": ["-h", "--help"], **settings},
        )

    def run(self, **given: Any) -> Any:
        """Call the function; print its answer as JSON, or let it print its text."""
        json = given.get("json", False) if "json" in self._names else given.pop("json", False)
        with ExitStack() as stack:
            stack.callback(AS_JSON.reset, AS_JSON.set(json))
            if "client" in self._names:
                given["client"] = stack.enter_context(daemon_client.client())
            result = self._function(**{name: _listed(value) for name, value in given.items()})
            if not self._yields:
                return result
            status = 0
            for answer in stack.enter_context(closing(result)):
                answer, status = answer if isinstance(answer, Ended) else (answer, 0)  # noqa: PLW2901
                if json:
                    print_json(answer)
                    break
            return status

    def format_arguments(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the section of help for the arguments."""
        if rows := [item.get_help_record(ctx) for item in self.params if isinstance(item, click.Argument)]:
            with formatter.section("Arguments"):
                formatter.write_dl(rows)


def _listed(value: Any) -> Any:
    """Return the values of a repeated option as a list, None without one."""
    return (list(value) or None) if isinstance(value, tuple) else value


def _parameter(item: inspect.Parameter) -> click.Parameter:
    """Return a parameter of a function as an option or argument of the command line."""
    kind, said = get_args(item.annotation)
    if NoneType in get_args(kind):
        kind = next(one for one in get_args(kind) if one is not NoneType)
    is_list = get_origin(kind) is list
    one = get_args(kind)[0] if is_list else kind
    required = item.default is inspect.Parameter.empty
    default = {} if required else {"default": item.default}
    settings: dict[str, Any] = {"required": required, "help": said.help, **default}
    if isinstance(said, Argument):
        made: click.Parameter = _Argument(
            [item.name], nargs=-1 if is_list else 1, metavar=said.metavar, type=_type(one), **settings
        )
    elif one is bool:
        return click.Option([*said.names, item.name], is_flag=True, **settings)
    else:
        made = _Option(
            [*said.names, item.name],
            multiple=is_list,
            metavar=said.metavar,
            type=_type(one, said),
            show_default=True,
            **settings,
        )
    name = "str" if get_origin(one) is Literal else one.__name__
    label = f"list[{name}]" if is_list else "path" if one is Path else name
    made.label = label if isinstance(said, Argument) or said.min is said.max is None else f"{label} range"  # type: ignore[attr-defined]
    return made


def _type(kind: Any, bounds: Option | None = None) -> click.ParamType[Any]:
    if kind is Path:
        return click.Path(path_type=Path, readable=False)
    if get_origin(kind) is Literal:
        return _Choice(get_args(kind))
    return _Number(kind, bounds) if kind in (int, float) else click.STRING


class _Choice(click.ParamType[Any]):
    """One of some texts."""

    name = "choice"

    def __init__(self, texts: tuple[str, ...]) -> None:
        self._texts = texts

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ARG002 - as click calls it
        """Return the text. Raises ValidationError."""
        if value in self._texts:
            return value
        assert param is not None
        name = param.opts[0] if isinstance(param, click.Option) else (param.metavar or "").strip("[.]")
        hint = f"give one of {', '.join(self._texts)}"
        raise ValidationError(f"{name} cannot be {clip(value, 40)!r}", hint=hint, field=name.lstrip("-"))


class _Number(click.ParamType[Any]):
    """A number within bounds."""

    name = "number"

    def __init__(self, kind: type[float], bounds: Option | None) -> None:
        self._kind, self._label = kind, "whole number" if issubclass(kind, int) else "number"
        self.min, self.max = (bounds.min, bounds.max) if bounds is not None else (None, None)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number. Raises click.BadParameter."""
        try:
            number = self._kind(value)
        except ValueError:
            self.fail(f"it must be a {self._label}", param, ctx)
        if self.min is not None and number < self.min:
            self.fail(f"Input should be greater than or equal to {self.min:g}", param, ctx)
        if self.max is not None and number > self.max:
            self.fail(f"Input should be less than or equal to {self.max:g}", param, ctx)
        return number


class _Option(click.Option):
    label = ""

    def make_metavar(self, ctx: click.Context) -> str:  # noqa: ARG002 - as click calls it
        return self.metavar or f"<{self.label}>"

    def get_help_extra(self, ctx: click.Context) -> Any:
        extra = super().get_help_extra(ctx)
        if isinstance(self.type, _Number) and (self.type.min is not None or self.type.max is not None):
            least, most = self.type.min, self.type.max
            extra["range"] = f"x>={least:g}" if most is None else f"{least:g}<=x<={most:g}"
        return extra


class _Argument(click.Argument):
    label = ""

    def get_usage_pieces(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - as above
        name = f"{{{self.metavar}}}" if self.required else f"[{self.metavar}]"
        return [name + "..." if self.nargs != 1 else name]

    def get_help_record(self, ctx: click.Context) -> tuple[str, str]:  # noqa: ARG002 - as above
        said = self.help or ""
        default = "[required]" if self.required else f"[default: {self.default}]" if self.default is not None else ""
        return f"{self.metavar} <{self.label}>", f"{said}  {default}".rstrip()


def confirm(preview: str, question: str) -> None:
    """Print what would happen and ask; a "no", or the end of the input, aborts the command.

    With --json both go to standard error: standard output is one JSON document.
    """
    click.echo(clean(preview, keep="\n"), err=AS_JSON.get())
    click.confirm(question, abort=True, err=AS_JSON.get())


@contextmanager
def renamed(names: Mapping[str, str]) -> Iterator[None]:
    """Raise errors about fields of a request with the names that these have on the command line."""
    try:
        yield
    except ValidationError as error:
        field = str(error.details.get("field"))
        if field not in names:
            raise
        said = names[field] + error.message[len(field) :] if error.message.startswith(field) else error.message
        hint = error.hint
        for one, name in names.items():
            said, hint = said.replace(f"`{one}`", name), hint and hint.replace(f"`{one}`", name)
        raise ValidationError(said, hint=hint, field=names[field].lstrip("-")) from error


def joined_text(words: list[str], name: str, *, max_chars: int) -> str:
    """Return the words of an argument called `name` as one text.

    Raises:
        ValidationError: it is empty, or longer than `max_chars` characters.
    """
    text = " ".join(words)
    if not text.strip():
        raise ValidationError(f"{name} is empty", hint=f"give {name} in words")
    if len(text) > max_chars:
        raise ValidationError(f"{name} has {len(text):,} characters; {max_chars:,} are allowed", hint="shorten it")
    return text
