"""Output on a terminal of 80 columns: whole ids, dropped columns, and no style with NO_COLOR."""

from __future__ import annotations

import io
import sys
from typing import Any

import pytest
from _pytest.capture import CaptureIO

from reveried.cli import main, output
from support.cli import AT, MEMORY, THREAD, Cli, Routes
from support.pages import page

THREAD_ID = "thr_bk0vjpcra68cgs3f6ke6j2gts2"
MEMORY_ID = "mem_01m7y16944963qekmefxgzskm0"


@pytest.fixture
def terminal(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make standard output a terminal of 80 columns."""
    request.getfixturevalue("capsys")
    monkeypatch.setattr(CaptureIO, "isatty", lambda _: True, raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("NO_COLOR", "1")


def narrow(text: str) -> list[str]:
    """Return the lines after asserting that each fits into 80 columns."""
    lines = text.splitlines()
    assert max(map(len, lines)) <= 80
    return lines


@pytest.mark.usefixtures("terminal", "daemon")
def test_threads(cli: Cli, routes: Routes, monkeypatch: pytest.MonkeyPatch) -> None:
    """`threads` prints title, whole id, last activity, and project or size; on a wide terminal a table."""
    title = "Why the tide tables of the harbour are an hour late in summer"
    thread = THREAD | {"id": THREAD_ID, "title": title, "messageCount": 1234}
    routes["GET /v1/threads"] = page(thread)
    last = output.when(AT)
    lines = narrow(cli("threads").out)
    assert lines == [title, f"    {THREAD_ID} · {last} · 1,234 messages"]
    routes["GET /v1/threads"] = page(thread | {"project": "harbour-master", "title": ""})
    assert narrow(cli("threads").out) == ["(without a title)", f"    {THREAD_ID} · {last} · harbour-master"]
    monkeypatch.setenv("COLUMNS", "120")
    heading, row = cli("threads").out.splitlines()
    assert row.startswith(THREAD_ID)
    assert row.endswith(last)
    assert "Project" in heading


@pytest.mark.usefixtures("home", "daemon")
def test_output_without_utf_8(routes: Routes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Characters that standard output cannot encode are printed as `?`."""
    routes["GET /v1/memories"] = page(MEMORY | {"content": "Grüße"})
    printed = io.BytesIO()
    stream = io.TextIOWrapper(printed, encoding="ascii", write_through=True)
    monkeypatch.setattr(sys, "stdout", stream)
    assert main(["memories"]) == 0
    assert b"Gr??e" in printed.getvalue()


@pytest.mark.usefixtures("terminal", "daemon")
def test_memories(cli: Cli, routes: Routes) -> None:
    """`memories` and `recall` print the text of each memory, and below it its type, file and shortened id.

    An episode has its title in place of the text.
    """
    memory = MEMORY | {"id": MEMORY_ID, "content": "The sea\nis salt.", "document": "facts/user.md"}
    routes["GET /v1/memories"] = page(memory, memory | {"id": "mem_1"})
    assert cli("memories").out.splitlines() == [
        "The sea is salt.",
        "    fact · facts/user.md · mem_…fxgzskm0",
        "The sea is salt.",
        "    fact · facts/user.md · mem_1",
    ]
    titled = memory | {"title": "deploy_rule", "content": "Never deploy on a full moon"}
    routes["GET /v1/memories"] = page(titled, titled | {"id": "mem_1", "type": "episode"})
    assert cli("memories").out.splitlines()[::2] == ["Never deploy on a full moon", "deploy_rule"]
    assert "Never deploy" in cli("show", MEMORY_ID).out
    routes["POST /v1/recall"] = {"hits": [{"memory": titled, "score": 2.5, "why": "moon"}], "tokens": 9}
    assert cli("recall", "moon").out.splitlines() == [
        "Never deploy on a full moon",
        "    fact, facts/user.md, mem_…fxgzskm0; moon",
    ]
    routes["GET /v1/memories"] = page(memory | {"content": "The harbour is deep. " * 9})
    assert narrow(cli("memories").out)[:3] == [
        "The harbour is deep. The harbour is deep. The harbour is deep. The harbour is",
        "deep. The harbour is deep. The harbour is deep. The harbour is deep. The harbour",
        "is deep. The harbour is deep.",
    ]


@pytest.mark.usefixtures("terminal")
def test_settings(cli: Cli) -> None:
    """The names of settings are not cut; their meanings go over several lines."""
    lines = narrow(cli("config", "get").out)
    assert any(line.startswith("distiller.deadlineSeconds  300.0") for line in lines)


@pytest.mark.usefixtures("terminal")
def test_dropped_columns(capsys: pytest.CaptureFixture[str]) -> None:
    """Columns are dropped in the order that is given; the first is never cut, however narrow the terminal is."""
    output.print_table("Id, A, B", [("x" * 60, "y" * 15, "z" * 9)], drop=(2, 1))
    assert capsys.readouterr().out.splitlines()[1] == "x" * 60 + "  " + "y" * 15
    output.print_table("Id, A", [("x" * 99, "y")], drop=(1,))
    assert capsys.readouterr().out.splitlines() == ["Id", "x" * 99]


@pytest.mark.usefixtures("terminal")
def test_a_table_that_is_too_wide_is_a_list(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where not every column has room, each row is its text with the other cells below: none is dropped."""
    monkeypatch.setenv("COLUMNS", "40")
    output.print_table(
        "Id, Since, Change*, Undo", [("cnd_…12345678", AT, "The sea " * 6, ""), ("cnd_1", "-", "", "yes")]
    )
    assert capsys.readouterr().out.splitlines() == [
        "The sea The sea The sea The sea The sea",
        "The sea",
        "    Id cnd_…12345678 · Since",
        f"    {AT}",
        "-",
        "    Id cnd_1 · Undo yes",
    ]


ODD = "- a\x1b[31mred\x1b]0;title\x07\r\n\tb\x9b2J\n\n"


@pytest.mark.usefixtures("terminal", "daemon")
def test_documents_without_control_characters(cli: Cli, routes: Routes) -> None:
    """On a terminal a document's words, lines and tabs are printed, and no escape sequences."""
    routes["GET /v1/documents/a.md"] = document(ODD)
    assert cli("show", "a.md").out == "- a?[31mred?]0;title? \n\tb?2J\n\n"


def test_joiners_are_printed_and_hidden_characters_are_not() -> None:
    """Joiners of letters and emoji stay, and emoji newer than Python's tables; what turns or hides a line does not.

    A zero-width space, an override of direction, and a letter made of tag characters are three such.
    """
    for kept in (
        "\u0645\u06cc\u200c\u0631\u0648\u0645",
        "\u0915\u094d\u200d\u0937",
        "\U0001f468\u200d\U0001f33e",
        "\u05d0\u200f!",
        "\U0001faea",
    ):
        assert output.clean(kept) == kept
    assert output.clean("a\u200bb\u202ec\U000e0061d\x9b2J") == "a?b?c?d?2J"


@pytest.mark.usefixtures("daemon")
@pytest.mark.parametrize("text", [ODD, "no newline", ""])
def test_documents_in_a_pipe(routes: Routes, capfdbinary: pytest.CaptureFixture[bytes], text: str) -> None:
    """A pipe gets a document byte for byte: it may become a file again."""
    routes["GET /v1/documents/a.md"] = document(text)
    capfdbinary.readouterr()
    assert main(["show", "a.md"]) == 0
    assert capfdbinary.readouterr().out == text.encode()


def document(text: str) -> dict[str, Any]:
    """Return a document as the daemon answers it."""
    return {"path": "a.md", "size": 1, "etag": "e", "updatedAt": AT, "content": text}


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize(("value", "styled"), [("1", False), ("", True), (None, True)])
def test_no_color(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, value: str | None, *, styled: bool
) -> None:
    """NO_COLOR turns bold off too; an empty value has no effect."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    if value is not None:
        monkeypatch.setenv("NO_COLOR", value)
    output.print_table("Heading", [("x",)])
    assert ("\x1b[1m" in capsys.readouterr().out) is styled


def test_a_pipe_gets_every_column(capsys: pytest.CaptureFixture[str]) -> None:
    """In a pipe no column is dropped, however long a cell is."""
    output.print_table("A, B, C", [("a", "b" * 3 * output.PLAIN_WIDTH, "c")], drop=(2, 1))
    assert capsys.readouterr().out.splitlines()[1].split() == ["a", "b" * 3 * output.PLAIN_WIDTH, "c"]


def test_a_long_cell_does_not_pad_the_other_rows(capsys: pytest.CaptureFixture[str]) -> None:
    """In a pipe cells are padded to the longest of those that are not very long, and the last one not at all."""
    output.print_table("A, B, Size>, C", [("a", "b" * 900, 1, "c"), ("aa", "日", 23, "")])
    heading, long, short = capsys.readouterr().out.splitlines()
    assert heading == f"A   B{' ' * 79}  Size  C"
    assert long == f"a   {'b' * 900}     1  c"
    assert short == f"aa  日{' ' * 78}    23"
