"""Settings: what the file and the environment may say, and how each refusal reads."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.errors import ValidationError
from reverie.paths import Layout
from reveried.config import CONFIG_BYTES_MAX, KEYS, Config, load, parse, read_file

if TYPE_CHECKING:
    from collections.abc import Callable


def layout_of(home: Path) -> Layout:
    return Layout.from_env({"REVERIE_HOME": str(home)}, home, 0)


def settings(home: Path, text: str | bytes = b"", **env: str) -> Config:
    data = text.encode() if isinstance(text, str) else text
    return parse(data, env, layout=layout_of(home), home=home)


def check_refused(home: Path, text: str | bytes, *says: str, **env: str) -> ValidationError:
    """Refused, with these words in message or hint, and a hint."""
    with pytest.raises(ValidationError) as caught:
        settings(home, text, **env)
    told = f"{caught.value.message} {caught.value.hint}"
    for words in says:
        assert words in told
    assert caught.value.hint
    return caught.value


def refused_key(read: Callable[[Any], Any], value: Any) -> Any:
    """The key that a refusal names, or None where the value was taken."""
    try:
        read(value)
    except ValidationError as error:
        return error.details["key"]
    return None


def test_no_file_gives_the_defaults(tmp_path: Path) -> None:
    """An absent and an empty file say the same: every default of the table."""
    config = load(layout_of(tmp_path), {}, home=tmp_path)

    assert config == settings(tmp_path)
    assert config.set_by == {}
    assert (config.context.distil_at, config.context.clear_at, config.context.absolute_cap) == (0.70, 0.60, 140_000)
    assert (config.compaction.preserve_recent_messages, config.compaction.preserve_recent_max_tokens) == (10, 12_000)
    assert config.consolidation.window == 1_000_000
    assert config.daemon.tcp == ""
    assert config.memory.data_dir == tmp_path / "root"
    assert config.daemon.socket == tmp_path / "run" / "reverie.sock"


def test_every_key_is_documented_once_and_reaches_its_attribute(tmp_path: Path) -> None:
    """The table is the truth: each key has a sentence, a variable, an attribute, and a default that it allows."""
    config = settings(tmp_path)
    names = [key.name for key in KEYS]

    assert len(set(names)) == len(names)
    assert len({key.environment for key in KEYS}) == len(names)
    for key in KEYS:
        assert key.description.endswith(".")
        assert key.expected
        config.value(key.name)
        default = list(key.default) if isinstance(key.default, tuple) else key.default
        assert key.checked(default) == key.default
    fields = {
        (section, field)
        for section in Config.__struct_fields__
        if section != "set_by"
        for field in getattr(config, section).__struct_fields__
    }
    assert fields == {(key.section, key.field) for key in KEYS}


def test_file_then_environment(tmp_path: Path) -> None:
    """The environment wins over the file, the file over the default; each says where it came from."""
    config = settings(
        tmp_path,
        '[daemon]\nqueueLength = 7\nconnections = 9\n[redact]\nliterals = ["a b", "c"]\n[context]\ndistilAt = 1\n',
        REVERIE_DAEMON_QUEUE_LENGTH="8",
        REVERIE_DAEMON_IDLE_SECONDS="0.5",
        REVERIE_CONTEXT_BOOTSTRAP='["a.md"]',
        REVERIE_LOG_LEVEL="debug",
        REVERIE_SOAK="1",
    )

    assert (config.daemon.queue_length, config.daemon.connections) == (8, 9)
    assert config.daemon.idle_seconds == 0.5
    assert config.redact.literals == ("a b", "c")
    assert "a b" not in repr(config)
    assert config.context.bootstrap == ("a.md",)
    assert config.context.distil_at == 1.0
    assert config.log.level == "debug"
    assert config.set_by["daemon.queueLength"] == "environment"
    assert config.set_by["daemon.connections"] == "file"


def test_unknown_key_names_the_nearest(tmp_path: Path) -> None:
    """A typo is an error, and the message says what was meant."""
    check_refused(tmp_path, '[daemon]\nsokcet = "x"\n', "daemon.sokcet", "daemon.socket")
    check_refused(tmp_path, "a = 1\n", "'a'", "reverie config")
    check_refused(tmp_path, "[daemon.socket]\nx = 1\n", "daemon.socket")
    with pytest.raises(ValidationError, match="no key"):
        settings(tmp_path).value("daemon.sokcet")


def test_a_credential_in_the_file_is_refused_and_not_shown(tmp_path: Path) -> None:
    """Where it belongs is said; the value appears nowhere."""
    error = check_refused(tmp_path, '[llm]\napi_key = "sk-live-xxxx"\n', "credential", "0600")

    assert "sk-live" not in f"{error.message}{error.details}"


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ('[daemon]\nqueueLength = "8"', "daemon.queueLength"),
        ("[daemon]\nqueueLength = 0", "daemon.queueLength"),
        ("[daemon]\nqueueLength = -1", "daemon.queueLength"),
        ("[daemon]\nqueueLength = 99999999999999999999", "daemon.queueLength"),
        ("[daemon]\nqueueLength = true", "daemon.queueLength"),
        ("[daemon]\nqueueLength = 1.5", "daemon.queueLength"),
        ("[daemon]\nidleSeconds = nan", "daemon.idleSeconds"),
        ("[daemon]\nidleSeconds = inf", "daemon.idleSeconds"),
        ("[daemon]\nidleSeconds = 0", "daemon.idleSeconds"),
        ("[context]\ndistilAt = 0", "context.distilAt"),
        ("[context]\ndistilAt = 1.01", "context.distilAt"),
        ("[context]\nclearAt = 0.9", "context.clearAt"),
        ('[log]\nlevel = "loud"', "log.level"),
        ("[log]\nlevel = 3", "log.level"),
        ('[redact]\nliterals = "x"', "redact.literals"),
        ("[redact]\nliterals = [1]", "redact.literals"),
        ('[redact]\nliterals = ["ok", ""]', "redact.literals"),
        ('[daemon]\ntcp = "0.0.0.0:80"', "daemon.tcp"),
        ('[daemon]\ntcp = "localhost:80"', "daemon.tcp"),
        ('[daemon]\nsocket = "a\\u0000b"', "daemon.socket"),
        ('[daemon]\nsocket = "run/x.sock"', "daemon.socket"),
        ('[memory]\ndataDir = "../x"', "memory.dataDir"),
        ('[memory]\ndataDir = "/a/../b"', "memory.dataDir"),
    ],
)
def test_wrong_values_name_their_key(tmp_path: Path, line: str, key: str) -> None:
    """Wrong types, wrong bounds and odd numbers are refused; the message names the key and what it may be."""
    check_refused(tmp_path, line + "\n", key)


@pytest.mark.parametrize(
    "data",
    [
        b"a=1\na=2\n",
        b"\xef\xbb\xbf[log]\n",
        b'[log]\nlevel = "\xff"\n',
        b"[log\n",
        b"a." * 2000 + b"a=1\n",
        b"[" * 5000,
        b"a = " + b"[" * 5000 + b"]" * 5000,
        '[log]\nlevel = "info"\n'.encode("utf-16"),
    ],
)
def test_what_is_not_toml_is_refused(tmp_path: Path, data: bytes) -> None:
    """Byte order marks, other encodings, duplicates and abysses end in one clear error, quickly."""
    check_refused(tmp_path, data)


def test_places_that_are_not_ours(tmp_path: Path) -> None:
    """The root is a folder of its own: not the system's, not home, not over or under the store."""
    inside = tmp_path / "data" / "store" / "x"
    for place in (
        "/",
        "/etc",
        "/etc/x",
        "/proc/self",
        "/usr/share/x",
        str(tmp_path),
        "~/",
        str(inside),
        str(tmp_path / "data"),
    ):
        check_refused(tmp_path, f'[memory]\ndataDir = "{place}"\n', "memory.dataDir")
    link = tmp_path / "link"
    link.symlink_to("/etc")
    check_refused(tmp_path, f'[memory]\ndataDir = "{link}"\n', "memory.dataDir")

    assert settings(tmp_path, '[memory]\ndataDir = "~/Notes"\n').memory.data_dir == tmp_path / "Notes"


def test_socket_path_has_107_bytes(tmp_path: Path) -> None:
    """What a socket's address can hold, counted in bytes."""
    for length, fits in ((107, True), (108, False)):
        path = "/" + "a" * (length - 1)
        if fits:
            assert settings(tmp_path, f'[daemon]\nsocket = "{path}"\n').daemon.socket == Path(path)
        else:
            check_refused(tmp_path, f'[daemon]\nsocket = "{path}"\n', "107", "108 bytes")


def test_file_of_secrets(tmp_path: Path) -> None:
    """One secret a line, in a file that only its owner reads."""
    file = tmp_path / "secrets"
    file.write_text("one\n\n two \n")
    line = f'[redact]\nliterals = ["zero"]\nliteralsFile = "{file}"\n'

    file.chmod(0o644)
    check_refused(tmp_path, line, "chmod 600")
    file.chmod(0o600)
    assert settings(tmp_path, line).redact.literals == ("zero", "one", "two")
    file.write_bytes(b"\xff\n")
    check_refused(tmp_path, line, "UTF-8")
    file.write_bytes(b"x" * (1024 * 1024 + 1))
    check_refused(tmp_path, line, "1 MiB")
    file.unlink()
    check_refused(tmp_path, line, "No such file")


def test_the_file_itself(tmp_path: Path) -> None:
    """A folder, or a file beyond all reason, in the place of the settings is refused."""
    with pytest.raises(ValidationError):
        read_file(tmp_path)
    large = tmp_path / "large"
    large.write_bytes(b"#" * (CONFIG_BYTES_MAX + 1))
    with pytest.raises(ValidationError, match="larger"):
        read_file(large)
    with pytest.raises(ValidationError, match="not a file"):
        read_file(Path("/dev/null"))


def test_bad_environment_is_refused(tmp_path: Path) -> None:
    """A variable obeys the same rules as the file."""
    for name, text in {
        "REVERIE_CONTEXT_ABSOLUTE_CAP": "abc",
        "REVERIE_DAEMON_QUEUE_LENGTH": "1_000",
        "REVERIE_CONTEXT_DISTIL_AT": "nan",
        "REVERIE_CONTEXT_BOOTSTRAP": "a.md",
    }.items():
        check_refused(tmp_path, b"", name.split("_", 2)[1].lower(), **{name: text})


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists, max_leaves=5))
def test_checked_never_fails_otherwise(value: Any) -> None:
    """Whatever TOML can hold is either taken or refused by a ValidationError."""
    for key in KEYS:
        assert refused_key(key.checked, value) in {None, key.name}


@given(st.text(max_size=40))
def test_from_text_never_fails_otherwise(text: str) -> None:
    """So is whatever a variable can hold."""
    for key in KEYS:
        assert refused_key(key.from_text, text) in {None, key.name}


@pytest.mark.parametrize(
    "text",
    [
        "[daemon]\nqueuelength = 8\n",
        "[daemon]\nqueue_length = 8\n",
        "[daemons]\nqueueLength = 8\n",
        "[daemon.more]\nqueueLength = 8\n",
        "daemon = 8\n",
        "[[daemon]]\nqueueLength = 8\n",
        '[llm]\nkey = "x"\n',
        '[memory]\ndataDir = "./store"\n',
        '[memory]\ndataDir = "/dev/shm"\n',
        '[memory]\ndataDir = ["/home/x"]\n',
        "[daemon]\nmode = 0o666\n",
        '[dream]\ntimezone = "Pluto/Base"\n',
        '[dream]\nschedule = "every day"\n',
        '[[redact]]\npattern = "(x*)*y"\n',
        '[[redact]]\npattern = "["\n',
        '[redact]\npattern = "a"\n',
        "[context]\nabsoluteCap = 1e400\n",
        '[log]\nlevel = "info"\n[log]\nlevel = "debug"\n',
        'a = "\\u0000"\n',
        "a = 2026-01-01\n",
        "\u00e4 = 1\n",
        "=\n",
    ],
)
def test_bad_files_are_refused(tmp_path: Path, text: str) -> None:
    """Unknown tables and keys, places that are taken, foreign zones, patterns: each is refused with a hint."""
    check_refused(tmp_path, text)
