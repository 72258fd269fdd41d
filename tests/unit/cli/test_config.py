"""`reverie config`: show, change, check; and the line editor for TOML."""

from __future__ import annotations

import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reveried.cli import daemon_client
from reveried.config_lines import with_value
from support.cli import Cli

COMMENTED = """\
# my settings
[context]
distilAt = 0.7 # later than most

[redact]
literals = [
  "one", # a ] in a comment
  "t[wo",
]
level = "x"
"""


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("context.distilAt", 0.6, COMMENTED.replace("0.7", "0.6")),
        ("context.window", 9000, COMMENTED.replace("most\n", "most\nwindow = 9000\n")),
        (
            "redact.literals",
            ("a",),
            COMMENTED.replace(COMMENTED[COMMENTED.index("[\n  ") : COMMENTED.index("\nlevel")], '["a"]'),
        ),
        ("log.level", "debug", COMMENTED + '\n[log]\nlevel = "debug"\n'),
    ],
)
def test_with_value(name: str, value: Any, expected: str) -> None:
    """A value is replaced on its line, added to its table, or gets a new table; every other byte stays."""
    assert with_value(COMMENTED, name, value) == expected


def test_with_value_in_incomplete_files() -> None:
    """Settings are written into an empty file, one without a last newline, and over an incomplete value."""
    assert with_value("", "log.level", "info") == '[log]\nlevel = "info"\n'
    assert with_value("[log]", "log.level", "info") == '[log]\nlevel = "info"\n'
    assert with_value("[log]\nlevel = [", "log.level", "info") == '[log]\nlevel = "info"\n'


_NAMES = st.sampled_from(["a.x", "a.y", "b.x", "b.long"])
_VALUES = (
    st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(blacklist_categories=["Cs", "Cc"]))
    | st.lists(st.text(st.characters(blacklist_categories=["Cs", "Cc"])), max_size=3).map(tuple)
)


@given(st.lists(st.tuples(_NAMES, _VALUES), max_size=12))
def test_any_sequence_of_changes_reads_back(changes: list[tuple[str, Any]]) -> None:
    """After any sequence of changes the file parses to the last value of each key."""
    text, expected = "# head\n", {}
    for name, value in changes:
        text = with_value(text, name, value)
        expected[name] = list(value) if isinstance(value, tuple) else value
    read = tomllib.loads(text)
    assert {f"{table}.{key}": value for table, keys in read.items() for key, value in keys.items()} == expected
    assert text.startswith("# head\n")


def test_set_and_get(cli: Cli, home: Path) -> None:
    """A value that was set is shown with its source; in the list of all settings secrets are only counted."""
    done = cli("config", "set", "context.distilAt", "0.65")
    assert (done.code, done.err) == (0, "")
    assert "context.distilAt is now 0.65" in done.out
    assert "daemon.tcp is now empty." in cli("config", "set", "daemon.tcp", "").out
    assert cli("config", "get", "context.distilAt").out == "0.65\n"
    assert cli("config", "get", "context.distilAt", "--json").json == {"context.distilAt": 0.65}
    assert cli("config", "set", "redact.literals", '["open sesame"]', "--json").json["redact.literals"] == [
        "open sesame"
    ]
    everything = cli("config", "get")
    assert "open sesame" not in everything.out
    assert "(1 literal)" in everything.out
    assert "file" in everything.out
    assert cli("config", "get", "--json").json["redact.literals"] == "(1 literal)"
    assert cli("config", "get", "redact.literals").out == '["open sesame"]\n'
    assert (home / "config.toml").stat().st_mode & 0o777 == 0o600


def test_set_warns_of_an_override(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable in the environment overrides the file, and the command says so."""
    monkeypatch.setenv("REVERIE_LOG_LEVEL", "debug")
    assert "REVERIE_LOG_LEVEL is set in this environment and overrides" in cli("config", "set", "log.level", "info").out


@pytest.mark.parametrize(
    ("name", "value"), [("context.distillAt", "0.6"), ("context.distilAt", "7"), ("context.clearAt", "0.99")]
)
def test_invalid_settings_are_refused(cli: Cli, home: Path, name: str, value: str) -> None:
    """A wrong name, value or combination is refused, and the file is not written."""
    done = cli("config", "set", name, value)
    assert done.code == 2
    assert "next: " in done.err
    assert not (home / "config.toml").exists()


def test_paths(cli: Cli, home: Path) -> None:
    """Each path is printed by its name; `root` is the folder of the documents."""
    assert cli("config", "path", "root").out == f"{home}/root/default\n"
    assert cli("config", "path").out == f"{home}/config.toml\n"
    assert cli("config", "path", "socket", "--json").json == {"socket": f"{home}/run/reverie.sock"}
    assert cli("config", "path", "log").out.endswith("daemon.log\n")
    assert cli("config", "path", "moon").code == 2


def test_the_settings_may_move_the_socket(cli: Cli, home: Path, tmp_path: Path) -> None:
    """`daemon.socket` of the settings is the socket that commands use."""
    cli("config", "set", "daemon.socket", str(tmp_path / "own.sock"))
    assert daemon_client.socket_path() == tmp_path / "own.sock"
    assert home.exists()


def test_validate(cli: Cli, home: Path, tmp_path: Path) -> None:
    """`config validate` checks the file in use or a given one, and prints what is wrong with it."""
    assert "not there: defaults are used" in cli("config", "validate").out
    (home).mkdir(exist_ok=True)
    (home / "config.toml").write_text("[log]\nlevel = 'debug'\n")
    assert "1 setting changed" in cli("config", "validate").out
    assert cli("config", "validate", "--json").json["setBy"] == {"log.level": "file"}
    other = tmp_path / "other.toml"
    other.write_text("[log]\nlevle = 1\n")
    checked = cli("config", "validate", str(other))
    assert "level" in checked.err
    assert checked.out == f"{other} is valid; 0 settings changed from the default, 1 key not used.\n"
    assert cli("config", "validate", str(tmp_path / "no.toml")).code == 2


def test_commands_beside_a_wrong_setting(cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With wrong settings in the file commands use the valid ones, name the wrong, and can repair one by one."""
    home.mkdir()
    path = home / "config.toml"
    path.write_text(f"[log]\nlevle = 1\nlevel = 'loud'\n[daemon]\nsocket = '{tmp_path}/own.sock'\n")
    shown = cli("config", "get", "daemon.socket")
    assert (shown.code, shown.out) == (0, f"{tmp_path}/own.sock\n")
    assert f"not used: There is no key 'log.levle' in {path}." in shown.err
    assert f"not used: log.level in {path}: it must be one of" in shown.err
    assert cli("config", "path", "socket").out == f"{tmp_path}/own.sock\n"
    assert cli("down").out == "The daemon is not running.\n"
    assert cli("config", "set", "log.level", "debug").code == 0
    assert cli("config", "set", "context.distilAt", "7").code == 2
    assert cli("config", "set", "context.clearAt", "0.99").code == 2
    assert cli("config", "get", "log.level").out == "debug\n"
    assert cli("config", "set", "log.levl", "debug").code == 2
    path.write_text("[log\n")
    assert cli("config", "get", "log.level").out == "info\n"
    refused = cli("config", "set", "log.level", "debug")
    assert refused.code == 2
    assert f"{path} is not TOML" in refused.err
    assert path.read_text() == "[log\n"
    path.unlink()
    monkeypatch.setenv("REVERIE_CONTEXT_WINDOW", "many")
    assert (
        "context.window in the environment (REVERIE_CONTEXT_WINDOW): it must be a whole number of 1000 to 10000000"
        in (cli("config", "validate").err)
    )


def test_a_wrong_combination(cli: Cli, home: Path) -> None:
    """A setting that is wrong only together with others gets its default; an unreadable file gives all defaults."""
    home.mkdir()
    (home / "config.toml").write_text("[context]\nclearAt = 0.9\ndistilAt = 0.5\n")
    assert cli("config", "get", "context.clearAt").out == "0.6\n"
    assert cli("config", "set", "context.clearAt", "0.4").code == 0
    (home / "config.toml").write_text("[daemon]\nsocket = 'beside'\n[context]\nclearAt = 0.4\n")
    assert cli("config", "get", "context.clearAt").out == "0.4\n"
    (home / "config.toml").unlink()
    (home / "config.toml").mkdir()
    assert cli("config", "get", "log.level").out == "info\n"


def test_the_recipe_for_a_program_works_line_by_line(cli: Cli) -> None:
    """Each `config set` of docs/models.md for a program of one's own is accepted in the order of the page."""
    page = Path("docs/models.md").read_text(encoding="utf-8")
    section = page.partition("\n## Programs")[2].partition("\n## ")[0]
    lines = [shlex.split(line)[2:] for line in section.splitlines() if line.startswith("$ reverie config set ")]
    assert ["config", "set", "distiller.kind", "command"] in lines
    assert [cli(*words).code for words in lines] == [0] * len(lines)


def test_a_program_that_is_not_named_yet(cli: Cli) -> None:
    """The hint of the refusal is a command that can be typed as it is, and then the refused one works."""
    refused = cli("config", "set", "distiller.kind", "command")
    assert refused.code == 2
    hint = refused.err.partition("reverie config set distiller.command ")[2].splitlines()[0]
    assert cli("config", "set", "distiller.command", *shlex.split(hint)).code == 0
    assert cli("config", "set", "distiller.kind", "command").code == 0
