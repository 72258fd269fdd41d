"""Where everything lives, for each way of saying so."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from reverie.errors import ValidationError
from reverie.paths import SOCKET_PATH_BYTES_MAX, Layout

HOME = Path("/home/ada")
NOWHERE = Path("/nonexistent/run")


def layout(**env: str) -> Layout:
    return Layout.from_env(env, HOME, 1000, runtime_base=NOWHERE)


def test_the_xdg_directories_are_followed() -> None:
    """Each kind of file goes to the directory that the base directory specification has for it."""
    found = layout(XDG_RUNTIME_DIR="/run/user/1000", XDG_DATA_HOME="/d", XDG_STATE_HOME="/s", XDG_CONFIG_HOME="/c")
    assert found == Layout(
        config_file=Path("/c/reverie/config.toml"),
        data_dir=Path("/d/reverie"),
        store_dir=Path("/d/reverie/store"),
        state_dir=Path("/s/reverie"),
        socket=Path("/run/user/1000/reverie/reverie.sock"),
        root=HOME / "Reverie",
    )
    assert found.root_of("default") == HOME / "Reverie" / "default"


def test_without_an_environment_the_defaults_of_the_specification_hold() -> None:
    """A relative XDG value is ignored, as the specification says."""
    found = layout(XDG_DATA_HOME="relative")
    assert found.config_file == HOME / ".config/reverie/config.toml"
    assert found.data_dir == HOME / ".local/share/reverie"
    assert found.state_dir == HOME / ".local/state/reverie"
    assert found.socket == HOME / ".local/state/reverie/run/reverie.sock"


def test_reverie_home_moves_everything() -> None:
    """No path of a scratch home lies outside it, root included."""
    found = layout(REVERIE_HOME="/scratch/x", XDG_RUNTIME_DIR="/run/user/1000", XDG_DATA_HOME="/d")
    places = [found.config_file, found.data_dir, found.store_dir, found.state_dir, found.socket, found.root]
    assert all(place.is_relative_to("/scratch/x") for place in places)


def test_reverie_socket_wins() -> None:
    """The socket may be put anywhere."""
    assert layout(REVERIE_HOME="/scratch", REVERIE_SOCKET="/x/y.sock").socket == Path("/x/y.sock")


def test_processes_without_a_session_find_the_socket_of_the_session(tmp_path: Path) -> None:
    """A cron job has no XDG_RUNTIME_DIR, and still meets the daemon of the login session; a stranger's is not used."""
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
def test_a_relative_place_is_refused(env: dict[str, str]) -> None:
    """It would mean another folder in each process."""
    with pytest.raises(ValidationError, match="not an absolute path"):
        layout(**env)


def test_the_socket_path_fits_the_kernel() -> None:
    """107 bytes are taken, 108 are refused with what to do."""
    stem = "/" + "s" * (SOCKET_PATH_BYTES_MAX - 1)
    assert layout(REVERIE_SOCKET=stem).socket == Path(stem)
    with pytest.raises(ValidationError) as caught:
        layout(REVERIE_SOCKET=stem + "s")
    assert "108 bytes" in caught.value.message
    assert caught.value.hint == "set REVERIE_SOCKET to a shorter path"


def test_the_layout_of_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """`current` reads this process's environment."""
    monkeypatch.setenv("REVERIE_HOME", "/scratch/here")
    monkeypatch.delenv("REVERIE_SOCKET", raising=False)
    assert Layout.current().data_dir == Path("/scratch/here/data")
