"""Tests of the file locations for each way of configuring them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from reverie.errors import ValidationError
from reverie.places import SOCKET_PATH_BYTES_MAX, Layout

HOME = Path("/home/ada")
NOWHERE = Path("/nonexistent/run")


def layout(**env: str) -> Layout:
    """Return the layout for these environment variables."""
    return Layout.from_env(env, HOME, 1000, runtime_base=NOWHERE)


def test_the_xdg_directories_are_followed() -> None:
    """Each kind of file is in its XDG base directory."""
    paths = layout(XDG_RUNTIME_DIR="/run/user/1000", XDG_DATA_HOME="/d", XDG_STATE_HOME="/s", XDG_CONFIG_HOME="/c")
    assert paths == Layout(
        config_file=Path("/c/reverie/config.toml"),
        data_dir=Path("/d/reverie"),
        store_dir=Path("/d/reverie/store"),
        state_dir=Path("/s/reverie"),
        socket=Path("/run/user/1000/reverie/reverie.sock"),
        root=HOME / "Reverie",
    )
    assert paths.root_of("default") == HOME / "Reverie" / "default"


def test_defaults_without_an_environment() -> None:
    """Without XDG variables the default folders below the home are used; a relative value is ignored."""
    paths = layout(XDG_DATA_HOME="relative")
    assert paths.config_file == HOME / ".config/reverie/config.toml"
    assert paths.data_dir == HOME / ".local/share/reverie"
    assert paths.state_dir == HOME / ".local/state/reverie"
    assert paths.socket == HOME / ".local/state/reverie/run/reverie.sock"


def test_reverie_home_moves_everything() -> None:
    """With REVERIE_HOME every path is below it, the root included."""
    paths = layout(REVERIE_HOME="/scratch/x", XDG_RUNTIME_DIR="/run/user/1000", XDG_DATA_HOME="/d")
    places = [paths.config_file, paths.data_dir, paths.store_dir, paths.state_dir, paths.socket, paths.root]
    assert all(path.is_relative_to("/scratch/x") for path in places)


def test_reverie_socket_overrides() -> None:
    """REVERIE_SOCKET overrides the socket path."""
    assert layout(REVERIE_HOME="/scratch", REVERIE_SOCKET="/x/y.sock").socket == Path("/x/y.sock")


def test_processes_without_a_session_find_the_socket_of_the_session(tmp_path: Path) -> None:
    """A cron job without XDG_RUNTIME_DIR uses the socket of the login session, but not another user's."""
    uid = os.getuid()
    (tmp_path / str(uid)).mkdir()
    (tmp_path / str(uid + 1)).mkdir()
    (tmp_path / str(uid + 2)).write_bytes(b"")
    ours = Layout.from_env({}, HOME, uid, runtime_base=tmp_path)
    assert ours.socket == tmp_path / str(uid) / "reverie" / "reverie.sock"
    for other in (uid + 1, uid + 2):
        theirs = Layout.from_env({}, HOME, other, runtime_base=tmp_path)
        assert theirs.socket == HOME / ".local/state/reverie/run/reverie.sock"


@pytest.mark.parametrize("env", [{"REVERIE_HOME": "x"}, {"REVERIE_SOCKET": "./r.sock"}])
def test_a_relative_path_is_rejected(env: dict[str, str]) -> None:
    """A relative path is rejected, as it would mean another folder in each process."""
    with pytest.raises(ValidationError, match="not an absolute path"):
        layout(**env)


def test_the_socket_path_is_limited() -> None:
    """A socket path of 107 bytes is accepted, one of 108 rejected with a hint."""
    stem = "/" + "s" * (SOCKET_PATH_BYTES_MAX - 1)
    assert layout(REVERIE_SOCKET=stem).socket == Path(stem)
    with pytest.raises(ValidationError) as caught:
        layout(REVERIE_SOCKET=stem + "s")
    assert "108 bytes" in caught.value.message
    assert caught.value.hint == "set REVERIE_SOCKET to a shorter path"


def test_the_layout_of_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """`Layout.current` uses the environment of this process."""
    monkeypatch.setenv("REVERIE_HOME", "/scratch/here")
    monkeypatch.delenv("REVERIE_SOCKET", raising=False)
    assert Layout.current().data_dir == Path("/scratch/here/data")
