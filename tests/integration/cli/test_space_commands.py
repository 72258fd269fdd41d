"""The commands for spaces and tokens with a real daemon, and the other commands in a second space."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.cli import Cli, run_in_process
from support.daemon import running_daemon


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Run a daemon in the REVERIE_HOME of this process's commands."""
    with running_daemon() as daemon:
        monkeypatch.setenv("REVERIE_HOME", str(daemon.home))
        monkeypatch.setenv("REVERIE_TOKEN", "")
        monkeypatch.setenv("NO_COLOR", "1")
        monkeypatch.delenv("REVERIE_SOCKET", raising=False)
        yield daemon.home


@pytest.fixture
def cli(home: Path, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Return a function that runs `reverie` in this process."""
    assert home.exists()
    return run_in_process(capsys)


def test_spaces_and_tokens_are_made_listed_and_revoked(cli: Cli, home: Path) -> None:
    """The commands for spaces and tokens create, list and revoke; a failing one names the command to use next."""
    assert str(home / "root" / "work") in cli("space", "create", "work").out
    assert [item["id"] for item in cli("space", "list", "--json").json["items"]] == ["default", "work"]
    assert cli("space", "list").out.splitlines()[1].split() == ["default", str(home / "root" / "default")]
    assert "No tokens" in cli("token", "list").out
    made = cli("token", "create", "--space", "work", "--agent", "mole")
    assert made.out.startswith("rvt_")
    (listed,) = cli("token", "list", "--json").json["items"]
    assert (listed["space"], listed["agent"]) == ("work", "mole")
    assert made.out.splitlines()[0] not in json.dumps(listed)
    assert cli("token", "list").out.splitlines()[1].split()[:3] == [listed["id"], "work", "mole"]
    assert cli("token", "revoke", listed["id"]).out == f"The token {listed['id']} is revoked.\n"
    assert cli("token", "list", "--json").json["items"] == []
    for words, code, part in (
        (("space", "create", "work"), 4, "reverie space list"),
        (("space", "create", "Work/Play"), 2, "lower-case"),
        (("token", "create", "--space", "play"), 1, "reverie space create play"),
        (("token", "revoke", "tok_0"), 1, "reverie token list"),
    ):
        failed = cli(*words)
        assert (failed.code, part in failed.err) == (code, True), failed


def test_every_kind_of_command_works_in_a_second_space(cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With REVERIE_TOKEN every kind of command works in the token's space; the default space stays empty."""
    cli("space", "create", "work")
    token = cli("token", "create", "--space", "work", "--json").json["token"]
    monkeypatch.setenv("REVERIE_TOKEN", token)
    assert cli("remember", "the pier closes at nine").code == 0
    assert cli("remember", "the crane is yellow", "--tag", "boats").code == 0
    assert "pier" in cli("recall", "when", "does", "the", "pier", "close").out
    assert "crane" in cli("memories", "--tag", "boats").out
    assert str(home / "root" / "work") in cli("status").out
    assert cli("sync", "now").code == 0
    assert "remember" in cli("log").out or cli("log", "--json").json["items"]
    assert cli("undo", "--yes").code == 0
    assert [item["id"] for item in cli("space", "list", "--json").json["items"]] == ["work"]
    assert "pier" in (home / "root" / "work" / "facts" / "project.md").read_text()
    for words in (("token", "list"), ("space", "create", "more"), ("backup", str(home / "copy")), ("compact",)):
        assert (cli(*words).code, words) == (5, words)
    monkeypatch.setenv("REVERIE_TOKEN", "")
    assert cli("memories", "--json").json["items"] == []
    assert "pier" in cli("--token", token, "memories").out
    monkeypatch.setenv("REVERIE_TOKEN", "")
    assert cli("--token", "", "status").code == 2


def test_a_wrong_token_is_refused_and_the_process_is_still_managed(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """With an unknown token commands fail with a hint; `up` and `doctor`, which manage the process, still work."""
    for wrong in ("rvt_nobody", "two words", "rvt_ümlaut"):
        monkeypatch.setenv("REVERIE_TOKEN", wrong)
        for words in (("status",), ("memories",)):
            refused = cli(*words)
            assert refused.code != 0, words
            assert "reverie token create" in refused.err
        assert cli("up", "--json").json["started"] is False
        assert cli("doctor", "--json").json
