"""The mechanism of the commands: functions whose parameters are options, and which yield their answer."""

from types import SimpleNamespace
from typing import Annotated, Any

import click
import pytest

from reverie.errors import NotFound
from reveried.cli.command import Answer, Argument, Command, Ended, Option
from reveried.cli.ids import by_end
from reveried.cli.output import AS_JSON, say

closed: list[bool] = []


def shelve(
    books: Annotated[list[str], Argument("BOOK...", "What to shelve.")],
    row: Annotated[int, Option("--row", "-r", min=1, max=9, help="Which row.")] = 3,
    tags: Annotated[list[str] | None, Option("--tag", help="A tag.")] = None,
    new: Annotated[bool, Option("--new", help="Is it new?")] = False,  # noqa: FBT002 - as commands have it
) -> Answer:
    """Shelve books."""
    try:
        yield Ended({"books": books, "row": row, "tags": tags, "new": new}, 4 if new else 0)
        say(f"{len(books)} in row {row}, as JSON: {AS_JSON.get()}")
    finally:
        closed.append(True)


def run(*words: str) -> Any:
    """Run the command with these words."""
    command = Command("shelve", shelve)
    with command.make_context("shelve", list(words)) as context:
        return command.invoke(context)


def test_an_answer_ends_a_command_that_prints_json(capsys: pytest.CaptureFixture[str]) -> None:
    """With --json what is yielded is printed, and what follows is not run; without it that alone is printed."""
    closed.clear()
    assert run("a", "b", "--tag", "x", "--json", "-r", "5") == 0
    assert capsys.readouterr().out.split() == (
        ["{", '"books":', "[", '"a",', '"b"', "],", '"row":', "5,", '"tags":', "[", '"x"', "],", '"new":', "false", "}"]
    )
    assert closed == [True]
    assert run("a") == 0
    assert capsys.readouterr().out == "1 in row 3, as JSON: False\n"


def test_an_answer_may_have_an_exit_code() -> None:
    """It is the exit code of the command, with and without --json."""
    assert (run("a", "--new"), run("a", "--new", "--json")) == (4, 4)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "Missing argument 'BOOK...'"),
        (["a", "--row", "ten"], "it must be a whole number"),
        (["a", "--row", "0"], "greater than or equal to 1"),
        (["a", "--row", "10"], "less than or equal to 9"),
    ],
)
def test_a_wrong_line(words: list[str], says: str) -> None:
    """A missing argument and a number out of bounds are usage errors that name the parameter."""
    with pytest.raises(click.UsageError) as raised:
        run(*words)
    assert says in raised.value.format_message()


def test_an_item_by_the_end_of_its_id() -> None:
    """The only item with such an id is found, also as lists print it; none or several are an error."""
    items = [SimpleNamespace(id="run_abc1"), SimpleNamespace(id="run_abd1")]
    assert by_end(items, "run_…bc1", "run", hint="") is items[0]
    with pytest.raises(NotFound, match="2 runs end with 1"):
        by_end(items, "1", "run", hint="")
    with pytest.raises(NotFound, match="no run ends with z"):
        by_end(items, "z", "run", hint="")
