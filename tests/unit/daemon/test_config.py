"""Settings: file, environment, defaults, and the error of each invalid value."""

from __future__ import annotations

from pathlib import Path

import pytest

from reverie.errors import ValidationError
from reverie.places import Layout
from reveried.config import CONFIG_BYTES_MAX, KEYS, RETIRED, Config, load, parse, read_file


def layout_of(home: Path) -> Layout:
    """Return the layout of a REVERIE_HOME."""
    return Layout.from_env({"REVERIE_HOME": str(home)}, home, 0)


def settings(home: Path, text: str | bytes = b"", **env: str) -> Config:
    """Parse a settings file and an environment."""
    data = text.encode() if isinstance(text, str) else text
    return parse(data, env, layout=layout_of(home), home=home)


def check_refused(home: Path, text: str | bytes, *says: str, **env: str) -> ValidationError:
    """Assert that the settings are refused with a hint, and these words in message or hint; return the error."""
    with pytest.raises(ValidationError) as caught:
        settings(home, text, **env)
    text_shown = f"{caught.value.message} {caught.value.hint}"
    for words in says:
        assert words in text_shown
    assert caught.value.hint
    return caught.value


def test_no_file_gives_the_defaults(tmp_path: Path) -> None:
    """A missing and an empty file give the defaults of the schema."""
    config = load(layout_of(tmp_path), {}, home=tmp_path)

    assert config == settings(tmp_path)
    assert config.set_by == {}
    assert (config.context.distil_at, config.context.clear_at, config.context.absolute_cap) == (0.70, 0.60, 140_000)
    assert (config.compaction.preserve_recent_messages, config.compaction.preserve_recent_max_tokens) == (10, 12_000)
    assert config.consolidation.window == 1_000_000
    assert config.daemon.tcp == ""
    assert config.memory.data_dir == tmp_path / "root"
    assert config.daemon.socket == tmp_path / "run" / "reverie.sock"


def test_every_key_of_the_schema(tmp_path: Path) -> None:
    """Each key has a description, a variable of its own, a field, and a default that its check accepts."""
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
    assert 25 <= len(KEYS) <= 32  # what somebody sets; the rest are constants


def test_environment_over_file_over_default(tmp_path: Path) -> None:
    """The environment overrides the file, the file the default; `set_by` has the source."""
    config = settings(
        tmp_path,
        '[runs]\nidleMinutes = 7\n[dream]\nmaxTokenBudget = 9\n[redact]\nliterals = ["a b", "c"]\n'
        "[context]\ndistilAt = 1\n",
        REVERIE_RUNS_IDLE_MINUTES="8",
        REVERIE_DAEMON_IDLE_SECONDS="0.5",
        REVERIE_CONTEXT_BOOTSTRAP='["a.md"]',
        REVERIE_LOG_LEVEL="debug",
        REVERIE_SOAK="1",
    )

    assert (config.runs.idle_minutes, config.dream.max_token_budget) == (8, 9)
    assert config.daemon.idle_seconds == 0.5
    assert config.redact.literals == ("a b", "c")
    assert "a b" not in repr(config)
    assert config.context.bootstrap == ("a.md",)
    assert config.context.distil_at == 1.0
    assert config.log.level == "debug"
    assert config.set_by["runs.idleMinutes"] == "environment"
    assert config.set_by["dream.maxTokenBudget"] == "file"


def test_a_key_that_does_not_exist_is_a_warning(tmp_path: Path) -> None:
    """An unknown key is not used, and the warning names the nearest; the keys beside it count."""
    config = settings(tmp_path, 'bogus = 1\n[daemon]\nsokcet = "x"\n[log]\nlevel = "debug"\n')

    assert config.log.level == "debug"
    assert [warning.details["key"] for warning in config.unused] == ["bogus", "daemon.sokcet"]
    assert [warning.hint for warning in config.unused] == [
        "reverie config get lists all keys.",
        "Did you mean 'daemon.socket'?",
    ]
    check_refused(tmp_path, "[daemon.socket]\nx = 1\n", "daemon.socket")
    with pytest.raises(ValidationError, match="no key"):
        settings(tmp_path).value("daemon.sokcet")


def test_what_an_earlier_release_knew_is_a_warning(tmp_path: Path) -> None:
    """A key that is gone is not used, and the warning says what to do instead; no present key is named so."""
    for name, hint in RETIRED.items():
        section, _, key = name.partition(".")
        key, _, value = key.partition("=")
        (warning,) = settings(tmp_path, f'[{section}]\n{key} = "{value}"\n').unused
        assert (warning.details["key"], warning.hint) == (f"{section}.{key}", hint)
    assert not RETIRED.keys() & {key.name for key in KEYS}


def test_a_misspelt_number_of_tokens_is_no_credential(tmp_path: Path) -> None:
    """It is a warning that names the nearest key, as any other misspelling is."""
    (warning,) = settings(tmp_path, "[brief]\nmax_tokens = 900\n").unused
    assert warning.hint == "Did you mean 'brief.maxTokens'?"


def test_a_credential_in_the_file_is_refused_and_not_shown(tmp_path: Path) -> None:
    """The error says where a credential belongs, and does not show its value."""
    error = check_refused(tmp_path, '[llm]\napi_key = "sk-live-xxxx"\n', "credential", "0600")

    assert "sk-live" not in f"{error.message}{error.details}"


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ('[runs]\nidleMinutes = "8"', "runs.idleMinutes"),
        ("[runs]\nidleMinutes = 0", "runs.idleMinutes"),
        ("[runs]\nidleMinutes = -1", "runs.idleMinutes"),
        ("[runs]\nidleMinutes = 99999999999999999999", "runs.idleMinutes"),
        ("[runs]\nidleMinutes = true", "runs.idleMinutes"),
        ("[runs]\nidleMinutes = 1.5", "runs.idleMinutes"),
        ("[distiller]\ndeadlineSeconds = nan", "distiller.deadlineSeconds"),
        ("[distiller]\ndeadlineSeconds = inf", "distiller.deadlineSeconds"),
        ("[distiller]\ndeadlineSeconds = 0", "distiller.deadlineSeconds"),
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
    """Wrong types, values out of bounds, NaN and infinity are refused with the name of the key."""
    check_refused(tmp_path, line + "\n", key)


@pytest.mark.parametrize(
    "data",
    [
        b"a=1\na=2\n",
        b"\xef\xbb\xbf[log]\n",
        b'[log]\nlevel = "\xff"\n',
        b"[log\n",
        b"[" * 5000,
        b"a = " + b"[" * 5000 + b"]" * 5000,
        '[log]\nlevel = "info"\n'.encode("utf-16"),
        b'[log]\nlevel = "info"\n[log]\nlevel = "debug"\n',
        b"=\n",
        b'[llm]\nkey = "x"\n',
        b'[memory]\ndataDir = "/dev/shm"\n',
        b'[memory]\ndataDir = ["/home/x"]\n',
        b"[context]\nabsoluteCap = 1e400\n",
        b'[redact]\nallow = ["Web3Auth"]\n',
        b'[redact]\nallow = ["rdn_12"]\n',
    ],
)
def test_invalid_files_are_refused(tmp_path: Path, data: bytes) -> None:
    """Other encodings, what is no TOML, deep nesting, credentials, and values that no key takes are errors of ours."""
    check_refused(tmp_path, data)


def test_document_roots_that_are_refused(tmp_path: Path) -> None:
    """The document root must not be a system folder, the home folder, or overlap the store."""
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
    """A socket path of 107 bytes is accepted, one of 108 refused."""
    for length, fits in ((107, True), (108, False)):
        path = "/" + "a" * (length - 1)
        if fits:
            assert settings(tmp_path, f'[daemon]\nsocket = "{path}"\n').daemon.socket == Path(path)
        else:
            check_refused(tmp_path, f'[daemon]\nsocket = "{path}"\n', "107", "108 bytes")


def test_literals_file(tmp_path: Path) -> None:
    """The literals file has one secret a line; one that others may read, or that is invalid, is refused."""
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


def test_read_file(tmp_path: Path) -> None:
    """A folder, a device or a file that is too large is refused."""
    with pytest.raises(ValidationError):
        read_file(tmp_path)
    large = tmp_path / "large"
    large.write_bytes(b"#" * (CONFIG_BYTES_MAX + 1))
    with pytest.raises(ValidationError, match="larger"):
        read_file(large)
    with pytest.raises(ValidationError, match="not a file"):
        read_file(Path("/dev/null"))


def test_bad_environment_is_refused(tmp_path: Path) -> None:
    """Variables are checked like the file."""
    for name, text in {
        "REVERIE_CONTEXT_ABSOLUTE_CAP": "abc",
        "REVERIE_DAEMON_QUEUE_LENGTH": "1_000",
        "REVERIE_CONTEXT_DISTIL_AT": "nan",
        "REVERIE_CONTEXT_BOOTSTRAP": "a.md",
        "REVERIE_LOG_LEVEL": "\udcff",  # an undecodable byte
    }.items():
        check_refused(tmp_path, b"", name.split("_", 2)[1].lower(), **{name: text})


@pytest.mark.parametrize(
    "text",
    ["[daemons]\nx = 8\n", "[daemon.more]\nx = 8\n", "daemon = 8\n", "[[redact]]\nx = 1\n", '"\u00e4" = 2026-01-01\n'],
)
def test_unknown_tables_are_warnings(tmp_path: Path, text: str) -> None:
    """A table, list or value where there is no key changes nothing but for its warning."""
    config = settings(tmp_path, text)

    assert len(config.unused) == 1
    assert config.set_by == {}
