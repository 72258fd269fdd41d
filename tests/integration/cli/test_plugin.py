"""`reverie install` in configurations of Claude Code and Codex: what it changes, and that nothing is left of it."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from reveried.plugin import HOOKS
from support.cli import reverie

SETTINGS = {
    "none": None,
    "empty": b"",
    "short": b'model = "x"',
    "odd": b'# mine\r\nmodel = "x"   # why\n\n\n[profiles.a]\nmodel = "y"\n[[things]]\na = 1\n\n\n',
    "marked": b'\xef\xbb\xbfmodel = "caf\xc3\xa9"\n',
    "quoted": b'a = """\n[plugins]\n"""',
}
UNUSABLE = {
    "latin": b'# caf\xe9\nmodel = "x"\n',
    "broken": b"a = [\n",
    "inline": b"plugins = {}\nfeatures = {hooks=false}\nmarketplaces = {}",
    "spelled": b"[plugins.'reverie@reverie']\nenabled = false\n",
    "text": b'a = """\n[marketplaces.reverie]\nnot = "ours"\n"""\n',
}
TRUSTED = '\n[hooks.state."reverie@reverie:hooks/hooks.json:stop:0:0"]\ntrusted_hash = "sha256:1"\n'


class Machine:
    """A home folder with the configurations of both clients."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.claude, self.codex = home / ".claude", home / ".codex"
        self.config = self.codex / "config.toml"
        self.claude.mkdir()
        self.codex.mkdir()
        (self.claude / "settings.json").write_text('{"model": "opus"}')

    def reverie(self, *words: str) -> tuple[int, str, str]:
        """Run a command; return its exit code and what it printed."""
        names = ("REVERIE_", "CLAUDE", "CODEX", "XDG_")
        env = {name: value for name, value in os.environ.items() if not name.startswith(names)}
        env |= {"HOME": str(self.home), "REVERIE_HOME": str(self.home / "rv")}
        done = reverie(env, *words)
        return done.code, done.out, done.err

    def tree(self) -> dict[str, bytes]:
        """Return every file of both configurations."""
        folders = (self.claude, self.codex)
        return {str(path): path.read_bytes() for folder in folders for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine on which nothing is installed."""
    return Machine(tmp_path)


def test_claude_code_gets_a_folder_and_no_setting(machine: Machine) -> None:
    """Install writes one plugin folder for Claude Code and no setting; a dry run nothing; uninstall removes all."""
    before = machine.tree()
    assert "Nothing was changed." in machine.reverie("install", "claude-code", "--dry-run")[1]
    assert machine.tree() == before
    code, out, _ = machine.reverie("install", "claude-code", "--json")
    folder = machine.claude / "skills" / "reverie"
    assert (code, json.loads(out)["written"], json.loads(out)["diff"]) == (0, [str(folder)], "")
    hooks = json.loads((folder / "hooks" / "hooks.json").read_text())["hooks"]
    commands = [handler["command"] for groups in hooks.values() for group in groups for handler in group["hooks"]]
    assert len(commands) == len(HOOKS)
    assert not [
        handler for groups in hooks.values() for group in groups for handler in group["hooks"] if "args" in handler
    ]
    assert all(command.startswith('"${CLAUDE_PLUGIN_ROOT}/bin/reverie-hook" claude-code ') for command in commands)
    assert stat.S_IMODE((folder / "bin" / "reverie-hook").stat().st_mode) == 0o755
    assert (folder / "bin" / "socket").read_text().strip() == str(machine.home / "rv" / "run" / "reverie.sock")
    server = json.loads((folder / ".mcp.json").read_text())["mcpServers"]["reverie"]
    assert server["args"][-1] == "mcp"
    assert "installed already" in machine.reverie("install", "claude-code")[1]
    (folder / "hooks" / "hooks.json").write_text("{}")
    assert machine.reverie("install", "claude-code")[0] == 0
    assert json.loads((folder / "hooks" / "hooks.json").read_text())["hooks"] == hooks
    assert machine.reverie("install", "claude-code", "--uninstall")[0] == 0
    assert machine.tree() == before
    assert not (machine.claude / "skills").exists()
    assert machine.reverie("install", "claude-code", "--uninstall")[0] != 0


@pytest.mark.parametrize("name", SETTINGS)
def test_the_settings_of_codex_come_back_byte_for_byte(machine: Machine, name: str) -> None:
    """Install twice, then uninstall: Codex's settings, whatever they had, are as before; a dry run writes nothing."""
    settings = SETTINGS[name]
    if settings is not None:
        machine.config.write_bytes(settings)
        machine.config.chmod(0o640)
    before = machine.tree()
    _, out, _ = machine.reverie("install", "codex", "--dry-run")
    assert '+[plugins."reverie@reverie"]' in out
    assert machine.tree() == before
    for _ in range(2):
        assert machine.reverie("install", "codex")[0] == 0
        after = machine.config.read_bytes()
        assert after.startswith(settings or b"")
        assert after.count(b"[marketplaces.reverie]") == 1
    assert settings is None or stat.S_IMODE(machine.config.stat().st_mode) == 0o640
    assert machine.reverie("install", "codex", "--uninstall")[0] == 0
    assert machine.tree() == before
    assert not (machine.codex / "plugins").exists()


@pytest.mark.parametrize("name", UNUSABLE)
def test_settings_that_cannot_have_the_plugin_stay_as_they_are(machine: Machine, name: str) -> None:
    """Settings that are no TOML or have another table of our name: install exits 4, says why, and writes nothing."""
    machine.config.write_bytes(UNUSABLE[name])
    before = machine.tree()
    for words in (("install", "codex", "--dry-run"), ("install", "codex")):
        code, _, err = machine.reverie(*words)
        assert code == 4
        assert ("mend it" if name in {"latin", "broken"} else "[marketplaces.reverie]") in err
        assert "Traceback" not in err
    assert machine.tree() == before


@pytest.mark.parametrize("kind", ["pipe", "folder", "loop", "link into nothing"])
def test_settings_that_are_no_file_are_refused(machine: Machine, kind: str) -> None:
    """A pipe, folder or dangling link in place of the settings is refused and left there; doctor still works."""
    if kind == "pipe":
        os.mkfifo(machine.config)
    elif kind == "folder":
        machine.config.mkdir()
    else:
        machine.config.symlink_to(machine.config if kind == "loop" else machine.home / "gone" / "config.toml")
    for words in (("install", "codex"), ("install", "codex", "--uninstall")):
        code, _, err = machine.reverie(*words)
        assert code in {1, 4}
        assert "Traceback" not in err
    assert not (machine.codex / "plugins").exists()
    assert stat.S_IFMT(machine.config.lstat().st_mode) == {"pipe": stat.S_IFIFO, "folder": stat.S_IFDIR}.get(
        kind, stat.S_IFLNK
    )
    assert "no hook waits" in machine.reverie("doctor", "--json")[1]


@pytest.mark.parametrize("settings", [None, b'model = "x"\r\n'])
def test_settings_behind_a_link_stay_there(machine: Machine, settings: bytes | None) -> None:
    """Settings that are a link, also a dangling one: the link stays, and its target is at the end as it was."""
    target = machine.home / "dotfiles" / "codex.toml"
    target.parent.mkdir()
    if settings is not None:
        target.write_bytes(settings)
    machine.config.symlink_to(target)
    assert machine.reverie("install", "codex")[0] == 0
    assert machine.config.is_symlink()
    assert b"[marketplaces.reverie]" in target.read_bytes()
    assert machine.reverie("install", "codex", "--uninstall")[0] == 0
    assert machine.config.is_symlink()
    assert (target.read_bytes() if target.exists() else None) == settings


def test_files_of_a_person_stay_in_the_folder(machine: Machine) -> None:
    """A person's own file in the plugin's folder stays after an installation over it and an uninstallation."""
    own = machine.claude / "skills" / "reverie" / "hooks" / "own.txt"
    machine.reverie("install", "claude-code")
    own.write_text("mine")
    (own.parent / "hooks.json").write_text("{}")
    assert machine.reverie("install", "claude-code")[0] == 0
    assert (own.parent / "hooks.json").read_text() != "{}"
    code, out, _ = machine.reverie("install", "claude-code", "--uninstall")
    assert (code, str(own) in out) == (0, False)
    assert [path for path in own.parents[1].rglob("*") if path.is_file()] == [own]
    assert own.read_text() == "mine"
    assert machine.reverie("install", "claude-code", "--uninstall")[0] == 1
    assert machine.reverie("install", "claude-code")[0] == 0


def test_settings_that_others_have_changed_lose_our_tables_alone(machine: Machine) -> None:
    """Uninstalling removes our tables and the trust in our hooks from Codex's settings, and no line of others."""
    machine.config.write_bytes(b'model = "x"\n')
    machine.reverie("install", "codex")
    other = '\n[plugins."other@other"]\nenabled = true\n'
    machine.config.write_text('model = "z"\n' + machine.config.read_text().split("\n", 1)[1] + TRUSTED + other)
    assert machine.reverie("install", "codex", "--uninstall")[0] == 0
    assert machine.config.read_text().split("\n") == ['model = "z"', *other.split("\n")] or (
        machine.config.read_text() == 'model = "z"\n' + other
    )


def test_a_new_version_keeps_what_a_person_has_trusted(machine: Machine) -> None:
    """A second installation enables the plugin again and keeps trusted hooks; uninstall removes all that is ours."""
    machine.config.write_bytes(b'model = "x"\n')
    machine.reverie("install", "codex")
    machine.config.write_text(machine.config.read_text().replace("enabled = true", "enabled = false") + TRUSTED)
    assert machine.reverie("install", "codex")[0] == 0
    text = machine.config.read_text()
    assert "enabled = true" in text
    assert "trusted_hash" in text
    assert machine.reverie("install", "codex", "--uninstall")[0] == 0
    assert "reverie" not in machine.config.read_text()
    assert machine.config.read_text().startswith('model = "x"\n')


def test_another_plugin_of_the_name_is_left_alone(machine: Machine) -> None:
    """Another plugin's folder of our name is neither replaced nor removed; an unknown client is refused."""
    folder = machine.claude / "skills" / "reverie"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("mine")
    before = machine.tree()
    for words in (("install", "claude-code"), ("install", "claude-code", "--uninstall")):
        assert machine.reverie(*words)[0] == 4
    assert machine.tree() == before
    assert machine.reverie("install", "emacs")[0] == 2
    machine.codex.rmdir()
    code, _, err = machine.reverie("install", "codex")
    assert code != 0
    assert "start `codex` once" in err


def test_doctor_names_hooks_that_are_not_trusted(machine: Machine) -> None:
    """`doctor` says how many hooks Codex does not run because they are not trusted, until each one is."""

    def agents() -> str:
        found = json.loads(machine.reverie("doctor", "--json")[1])
        return next(str(finding["says"]) for finding in found if finding["check"] == "agents")

    assert "no hook waits" in agents()
    machine.reverie("install", "codex")
    assert "Codex runs 8 of 8 hooks of Reverie only after you have trusted them" in agents()
    trusted = [TRUSTED.replace("0:0", f"0:{number}") for number in range(len(HOOKS))]
    machine.config.write_text(machine.config.read_text() + "".join(trusted))
    assert "no hook waits" in agents()
    mark = machine.home / "rv" / "run" / "hook.late.7"
    mark.parent.mkdir(parents=True, exist_ok=True)
    mark.touch()
    assert "hooks of 1 agent got no answer in time" in agents()


CLAUDE_SETTINGS = {
    "none": None,
    "blank": b"\n",
    "empty": b"{}",
    "short": b'{"model": "opus"}',
    "long": b'{\r\n\t"model": "caf\xc3\xa9",\r\n\t"hooks": {"Stop": []}\r\n}\r\n\r\n',
}


@pytest.mark.parametrize("name", CLAUDE_SETTINGS)
def test_the_clients_own_memory_is_kept_in_the_folder_on_request(machine: Machine, name: str) -> None:
    """`--auto-memory` adds one key to Claude Code's settings; uninstall puts the same bytes back."""
    settings, before = machine.claude / "settings.json", CLAUDE_SETTINGS[name]
    settings.unlink()
    if before is not None:
        settings.write_bytes(before)
    tree = machine.tree()
    code, out, _ = machine.reverie("install", "claude-code", "--auto-memory", "--dry-run")
    assert (code, machine.tree()) == (0, tree)
    assert "+" in out
    assert "autoMemoryDirectory" in out

    assert machine.reverie("install", "claude-code", "--auto-memory")[0] == 0
    found = json.loads(settings.read_bytes())
    assert found.pop("autoMemoryDirectory") == str(machine.home / "rv" / "root" / "default")
    assert found == json.loads((before or b"").strip() or b"{}")
    assert "installed already" in machine.reverie("install", "claude-code", "--auto-memory")[1]

    assert machine.reverie("install", "claude-code", "--uninstall")[0] == 0
    assert machine.tree() == tree


@pytest.mark.parametrize(
    ("changed", "left"),
    [
        ('{"a": 1, PAIR}', {"a": 1}),
        ('{PAIR, "a": [1]}', {"a": [1]}),
        ('{\n  "a": 1,\n  PAIR,\n  "b": 2\n}', {"a": 1, "b": 2}),
        ("{ PAIR }", {}),
    ],
)
def test_settings_that_others_changed_lose_the_key_alone(machine: Machine, changed: str, left: object) -> None:
    """Uninstalling removes our key from settings that were edited meanwhile, and keeps everything else in them."""
    settings = machine.claude / "settings.json"
    assert machine.reverie("install", "claude-code", "--auto-memory")[0] == 0
    folder = json.loads(settings.read_text())["autoMemoryDirectory"]
    settings.write_text(changed.replace("PAIR", f'"autoMemoryDirectory": {json.dumps(folder)}'))
    assert machine.reverie("install", "claude-code", "--uninstall")[0] == 0
    assert json.loads(settings.read_text()) == left


@pytest.mark.parametrize("text", ["[1]", "{", '{"autoMemoryDirectory": "/srv/other"}', '{"a": 1 /* why */}'])
def test_settings_without_room_for_the_key_are_not_changed(machine: Machine, text: str) -> None:
    """With settings that cannot take the key, `--auto-memory` fails with a hint and installs nothing."""
    (machine.claude / "settings.json").write_text(text)
    tree = machine.tree()
    code, _, err = machine.reverie("install", "claude-code", "--auto-memory")
    assert code != 0
    assert "next:" in err
    assert machine.tree() == tree
    assert machine.reverie("install", "codex", "--auto-memory")[0] == 2
