"""`reverie doctor`: each fault is found and named, with the command that fixes it."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from reverie import tokenizer
from reverie.redact import Redactor
from reverie.store import Store
from reveried.cli import doctor
from support.cli import Cli
from support.fake_daemon import FakeDaemon
from support.small_models import static_folder


def check(name: str, verdict: str, message: str) -> None:
    """Assert verdict and message of one check, and a hint unless it is good."""
    finding = {finding.check: finding for finding in doctor.findings()}[name]
    assert finding.verdict == verdict
    assert message in finding.message
    assert finding.verdict == "good" or finding.hint


def test_a_new_home(cli: Cli) -> None:
    """In an empty home nothing is bad; the next steps are notes."""
    done = cli("doctor")
    assert done.code == 0
    assert "note  daemon: not running" in done.out
    assert "next: run `reverie up`" in done.out
    assert "BAD" not in done.out
    assert {finding["verdict"] for finding in cli("doctor", "--json").json} == {"good", "note"}


def test_the_embedder(cli: Cli, home: Path) -> None:
    """Without an embedder the check is good; a missing package or a damaged model is bad, with a hint what to type."""
    check("embedder", "good", "none is configured")
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text('[memory]\nembedder = "no-such-package"\n')
    check("embedder", "bad", "no_such_package is not installed")
    assert "pip install --no-deps no-such-package" in cli("doctor").out
    folder = static_folder(home / "model")
    (home / "config.toml").write_text(f'[memory]\nembedder = "{folder}"\n')
    check("embedder", "good", "4 numbers for each message")
    (folder / "config.json").unlink()
    check("embedder", "bad", "cannot be read")


def test_wrong_settings(cli: Cli, home: Path) -> None:
    """A fault in the settings is one finding, a key that there is not a note; the other checks still run."""
    home.mkdir()
    for text, code, mark in (("[log]\nlevel = 1\n", 1, "BAD "), ("[nonsense]\nx = 1\n", 0, "note")):
        (home / "config.toml").write_text(text)
        done = cli("doctor")
        assert done.code == code
        assert f"{mark}  settings: " in done.out
        assert "ok    native core" in done.out


def test_a_syntax_error_in_the_settings(cli: Cli, home: Path) -> None:
    """Every command with faulty settings names the file and the line to edit, instead of another command."""
    home.mkdir()
    path = home / "config.toml"
    path.write_text("[log]\nlevel = [\n")
    for words in (("doctor",), ("config", "validate"), ("up",)):
        done = cli(*words)
        assert done.code != 0
        printed = done.out + done.err
        assert f"Edit {path} at line 2" in printed
    path.write_text('[log]\nlevel = = "info"\n')
    assert f"next: Edit {path} at line 2.\n" in cli("config", "validate").err


def test_a_home_that_is_no_folder(cli: Cli, home: Path) -> None:
    """A REVERIE_HOME that is a file is one finding, and no other check calls the folders good."""
    home.write_text("")
    done = cli("doctor")
    assert done.code == 1
    assert done.out.count(str(home)) == 1
    assert f"BAD   folders: {home} is a file" in done.out
    assert "ok    folders" not in done.out


def test_a_home_with_a_long_path(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A REVERIE_HOME that is too long for a socket is one finding."""
    monkeypatch.setenv("REVERIE_HOME", str(tmp_path / ("x" * 120)))
    found = cli("doctor", "--json").json
    assert [(finding["check"], finding["verdict"]) for finding in found] == [
        ("folders", "bad"),
        ("native core", "good"),
    ]


def test_open_folders(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders that others may read, that belong to others or are not writable are bad."""
    state = home / "state"
    state.mkdir(parents=True, mode=0o755)
    state.chmod(0o755)
    check("folders", "bad", "is open to other users")
    state.chmod(0o700)
    check("folders", "good", "documents in")
    root = home / "root" / "default"
    root.mkdir(parents=True)
    monkeypatch.setattr(os, "access", lambda *_: False)
    check("folders", "bad", "is not writable")
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    check("folders", "bad", "belongs to another user")


def test_a_full_disk(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A nearly full disk is bad."""
    assert not home.exists()
    check("room", "good", "free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=1000))
    check("room", "bad", "only 1000 B free")


def test_the_daemon(daemon: FakeDaemon, home: Path) -> None:
    """A daemon of this version at a private socket is good; an open socket or another version is bad."""
    socket = home / "run" / "reverie.sock"
    (home / "run").chmod(0o700)
    socket.chmod(0o600)
    check("daemon", "good", "version 0.1.0 answers")
    socket.chmod(0o666)
    check("daemon", "bad", "has mode 666")
    socket.chmod(0o600)
    daemon.respond.table["GET /v1/health"] = {  # type: ignore[attr-defined] # the routes of the fixture
        "status": "ok",
        "version": "9.9.9",
        "protocol": 1,
        "pid": 1,
        "uptimeSeconds": 1,
    }
    check("daemon", "bad", "runs version 9.9.9")


def test_a_stale_socket(home: Path) -> None:
    """A socket file without a listener is named as stale."""
    (home / "run").mkdir(parents=True)
    (home / "run" / "reverie.sock").touch()
    check("daemon", "note", "still there")


def test_the_store(home: Path) -> None:
    """A sound store is good; a damaged one is bad."""
    store = home / "data" / "store"
    Store.open(store, redactor=Redactor()).close()
    check("store", "good", "all checksums match")
    data = bytearray((store / "data.mdb").read_bytes())
    data[: len(data)] = os.urandom(len(data))
    (store / "data.mdb").write_bytes(data)
    assert {finding.check: finding for finding in doctor.findings()}["store"].verdict == "bad"


def test_a_check_that_raises(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An OSError in a check is a finding too, and the other checks still run."""

    def refuse(_: Path) -> None:
        raise PermissionError(13, "Permission denied", str(home))

    monkeypatch.setattr(shutil, "disk_usage", refuse)
    check("room", "bad", "Permission denied")


def test_wrong_counts(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """A native core that counts wrongly is bad, by its own check and compared with tiktoken."""
    assert not home.exists()
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    assert "token counts" not in {finding.check for finding in doctor.findings()}
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "somewhere")
    encoding = SimpleNamespace(encode_ordinary=lambda text: [0] * tokenizer.count(text))
    monkeypatch.setitem(sys.modules, "tiktoken", SimpleNamespace(get_encoding=lambda _: encoding))
    check("token counts", "good", "equal to tiktoken's")
    encoding.encode_ordinary = lambda _: [0] * 99
    check("token counts", "bad", "where tiktoken counts 99")
    monkeypatch.setattr(tokenizer, "count", lambda _: 99)
    check("native core", "bad", "wrong answers")
