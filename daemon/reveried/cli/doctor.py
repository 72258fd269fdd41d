"""`reverie doctor`: checks of settings, folders, disk, daemon, store and native core; changes nothing."""

from __future__ import annotations

import os
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import msgspec

from reverie.errors import DaemonNotRunning, ModelFailed, ReverieError
from reveried import PROTOCOL, __version__, plugin
from reveried.cli import daemon_client
from reveried.cli.command import Answer, Ended, Option
from reveried.cli.output import AS_JSON, counted, say, size
from reveried.cli.status import UNSYNCED, late_line
from reveried.plugin import install

Verdict: TypeAlias = Literal["good", "note", "bad"]
FREE_MIN_BYTES = 512 * 1024 * 1024  # a disk with less is nearly full
LATE_S = 60.0  # for which a hook without an answer is told of, unless one has had an answer since
_MARKS = {"good": "ok  ", "note": "note", "bad": "BAD "}
_SAMPLES = (  # what tokenizers disagree on: nothing, code, other scripts, a long run, a special token, odd white space
    "",
    "Hello, world!",
    "def f(x):\n    return x + 1\n",
    "Grüße, 你好, 🙂🙂",
    "a" * 300,
    "<|endoftext|>",
    "1234567 \t\n\n x",
)
_PLAIN = "The car is behind the house, and the soup is on the table."  # any model knows some of these words


class Finding(msgspec.Struct, frozen=True):
    """Result of one check; `hint` is the command to type if there is something to do."""

    check: str
    verdict: Verdict
    message: str = msgspec.field(name="says")
    hint: str | None = None


def doctor(
    model: Annotated[
        bool, Option("--model", help="Also ask each model of the distiller once, which costs a few tokens.")
    ] = False,
) -> Answer:
    """Check settings, folders, socket, store and token counts; changes nothing.

    Example: reverie doctor
    """
    results = []
    for finding in findings(model=model):
        results.append(finding)
        if not AS_JSON.get():
            say(f"{_MARKS[finding.verdict]}  {finding.check}: {finding.message}")
            if finding.hint and finding.verdict != "good":
                say(f"      next: {finding.hint}")
    yield Ended(results, 1 if any(finding.verdict == "bad" for finding in results) else 0)


def findings(*, model: bool = False) -> Iterator[Finding]:
    """Run every check, yielding each finding as soon as it is known."""
    checks: tuple[Callable[[], Finding], ...] = (_check_native,)
    if unusable := _unusable_location():
        yield unusable  # all checks but the native core's would report this again, each in other words
    else:
        of_daemon, of_store = (_check_daemon, _check_sync, _check_agents), (_check_store, _check_embedder)
        checks = (_check_settings, _check_folders, _check_room, *of_daemon, *of_store, *checks)
    if os.environ.get("TIKTOKEN_CACHE_DIR"):
        # Nothing needs tiktoken; where its vocabulary is on the disk, it is a second opinion.
        checks = (*checks, _check_tokens)
    if model:
        checks = (*checks, _check_model)
    for check in checks:
        name = check.__name__.removeprefix("_check_")
        try:
            yield check()
        except ReverieError as error:
            # The client's errors name this command as the next step.
            hint = "read `reverie logs`" if "`reverie doctor`" in (error.hint or "") else error.hint
            yield Finding(name, "bad", error.message, hint)
        except OSError as error:
            yield Finding(name, "bad", f"{error.filename}: {error.strerror}", "check the path")


def _unusable_location() -> Finding | None:
    """Return the finding if the environment names no usable place for Reverie's folders, else None.

    Example: REVERIE_HOME is a file, or so long that no socket can be below it.
    """
    try:
        layout = daemon_client.layout()
    except ReverieError as error:
        return Finding("folders", "bad", error.message, error.hint)
    for folder in (layout.config_file.parent, layout.data_dir, layout.state_dir, layout.socket.parent):
        existing = _nearest_existing(folder)
        if not existing.is_dir():
            hint = "set REVERIE_HOME to a folder" if os.environ.get("REVERIE_HOME") else f"move {existing} away"
            return Finding("folders", "bad", f"{existing} is a file, and Reverie needs a folder there", hint)
    return None


def _check_settings() -> Finding:
    config = daemon_client.settings()
    path = daemon_client.layout().config_file
    source = str(path) if path.exists() else f"no file at {path}, defaults"
    if config.unused:
        return Finding("settings", "note", f"{source}; {config.unused[0].message}", config.unused[0].hint)
    return Finding("settings", "good", f"{source}; {len(config.set_by)} changed")


def _check_folders() -> Finding:
    """Check that our folders are private to this user and writable, and that the document folder is writable."""
    layout = daemon_client.layout()
    root = daemon_client.root()
    own = (layout.data_dir, layout.store_dir, layout.state_dir, daemon_client.socket_path().parent)
    for folder in own:
        if not folder.exists():
            continue
        status = folder.stat()
        if status.st_uid != os.getuid():
            return Finding("folders", "bad", f"{folder} belongs to another user", f"sudo chown -R $USER {folder}")
        if stat.S_IMODE(status.st_mode) & 0o077 and folder != layout.data_dir:
            return Finding("folders", "bad", f"{folder} is open to other users", f"chmod 700 {folder}")
    for folder in map(_nearest_existing, (*own, root)):
        if os.statvfs(folder).f_flag & os.ST_RDONLY:
            hint = "mount it writable, or set REVERIE_HOME to another folder"
            return Finding("folders", "bad", f"{folder} is on a read-only file system", hint)
        if not os.access(folder, os.W_OK | os.X_OK):
            is_ours = folder.stat().st_uid == os.getuid()
            hint = f"chmod u+wx {folder}" if is_ours else "set REVERIE_HOME to a folder of yours"
            return Finding("folders", "bad", f"{folder} is not writable", hint)
    return Finding("folders", "good", f"documents in {root}, store in {layout.store_dir}")


def _check_room() -> Finding:
    free = shutil.disk_usage(_nearest_existing(daemon_client.layout().data_dir)).free
    if free < FREE_MIN_BYTES:
        return Finding("room", "bad", f"only {size(free)} free on the disk of the store", "free space on that disk")
    return Finding("room", "good", f"{size(free)} free")


def _check_daemon() -> Finding:
    """Return the finding on whether the daemon answers, at a private socket, with this command's version."""
    socket = daemon_client.socket_path()
    try:
        health = daemon_client.health()
    except DaemonNotRunning as error:
        stale = " (a stale socket file is still there)" if socket.exists() else ""
        return Finding("daemon", "note", f"not running{stale}", error.hint)
    mode = stat.S_IMODE(socket.stat().st_mode)
    if mode & 0o077:
        return Finding("daemon", "bad", f"{socket} has mode {mode:o}, not 600", f"chmod 600 {socket}")
    if (health.version, health.protocol) != (__version__, PROTOCOL):
        return Finding(
            "daemon",
            "bad",
            f"runs version {health.version}, this command is {__version__}",
            "reverie down, then reverie up",
        )
    return Finding("daemon", "good", f"version {health.version} answers at {socket}")


def _check_sync() -> Finding:
    """Return the finding on whether the folder is synced, and every file of it was taken."""
    try:
        with daemon_client.client(timeout_s=daemon_client.HEALTH_S) as client:
            status = client.sync_status()
    except DaemonNotRunning as error:
        return Finding("sync", "note", "not running, so no file is read or written", error.hint)
    if status.state in UNSYNCED:
        return Finding("sync", "bad", f"{status.state}: {status.reason}", status.hint)
    if status.refused:
        first = status.refused[0]
        more = f", and {len(status.refused) - 1} more" if status.refused[1:] else ""
        why = first.reason.replace("_", " ")
        return Finding("sync", "bad", f"{first.path} was not taken or written: {why}{more}", first.hint)
    return Finding("sync", "good", f"every file of {status.root} was taken")


def _check_agents() -> Finding:
    """Check that the hooks of agents' clients run, and that they get answers."""
    late = _late_hooks()
    if late is not None:
        return late
    home = Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex")
    untrusted = install.untrusted_hooks(home / "config.toml")
    if untrusted:
        message = f"Codex runs {untrusted} of {len(plugin.HOOKS)} hooks of Reverie only after you have trusted them"
        return Finding("agents", "bad", message, "start codex, type /hooks, and trust them")
    return Finding("agents", "good", "no hook waits for trust, or for an answer")


def _late_hooks() -> Finding | None:
    """Return the finding on hooks without an answer in time: now by the marks of their program, else by the daemon."""
    marks = [path.stat().st_mtime for path in daemon_client.socket_path().parent.glob("hook.late.*")]
    recent = [at for at in marks if time.time() - at < LATE_S]
    if recent:
        last = f"the last one {time.time() - max(recent):.0f} s ago"
        message = f"hooks of {counted(len(recent), 'agent')} got no answer in time, {last}; what they report is kept"
        return Finding("agents", "bad", message, "read `reverie logs`")
    try:
        with daemon_client.client(timeout_s=daemon_client.HEALTH_S) as client:
            late = client.status().late_hooks
    except ReverieError:
        return None  # the check of the daemon says why
    return None if late is None else Finding("agents", "note", late_line(late), "reverie status")


def _check_store() -> Finding:
    """Return the finding on whether every record of the store fits its checksum."""
    store = daemon_client.layout().store_dir
    if not (store / "data.mdb").exists():
        return Finding("store", "note", "nothing stored yet", "reverie import claude-code ~/.claude/projects")
    from reverie.store.check import run_check

    report = run_check(store)
    if not report.ok:
        first = report.problems[0]
        return Finding("store", "bad", f"{first.kind} {first.key}: {first.what}", "reverie check lists every problem")
    return Finding("store", "good", f"{sum(report.counts.values()):,} records read, all checksums match")


def _check_embedder() -> Finding:
    """Return the finding on whether the configured embedder makes vectors."""
    model = daemon_client.valid_settings()[0].memory.embedder
    if not model:
        return Finding("embedder", "good", "none is configured: words alone are searched")
    from reverie.embedding import configured

    embedder = configured(model, home=Path.home())
    if not embedder.embed([_PLAIN])[0].any():
        return Finding("embedder", "bad", f"{model} gives a plain text no vector", "choose another model")
    return Finding("embedder", "good", f"{model}: {embedder.dimensions} numbers for each message")


def _check_native() -> Finding:
    """Return the finding on whether the Rust extension loads, counts and serialises correctly."""
    from reverie import canonical_json, tokenizer

    count, json = tokenizer.count("Hello, world!"), canonical_json.canonical({"b": 1, "a": "é"})
    if (count, json) != (4, '{"a":"é","b":1}'.encode()):
        return Finding("native core", "bad", "gives wrong answers", "reinstall Reverie")
    return Finding("native core", "good", f"loads and counts ({tokenizer.TOKENIZER})")


def _check_tokens() -> Finding:
    """Return the finding of a comparison of the native token counter with tiktoken."""
    import tiktoken

    from reverie import tokenizer

    encoding = tiktoken.get_encoding(tokenizer.TOKENIZER)
    for sample in _SAMPLES:
        expected, count = len(encoding.encode_ordinary(sample)), tokenizer.count(sample)
        if expected != count:
            return Finding("token counts", "bad", f"{count} where tiktoken counts {expected}", "reinstall Reverie")
    return Finding("token counts", "good", f"equal to tiktoken's on {len(_SAMPLES)} samples")


def _check_model() -> Finding:
    """Ask each model of the distiller once, through the daemon, whose ledger counts it."""
    with daemon_client.client() as client:
        try:
            checked = client.check_distiller()
        except ModelFailed as error:
            return Finding("model", "bad", error.message, error.hint)
    if not checked.models:
        return Finding(
            "model", "note", f"{checked.engine} asks no model", "reverie config set distiller.kind anthropic"
        )
    words = ", ".join(
        f"{entry.model} ({entry.role}) in {entry.seconds:.1f} s, {entry.input_tokens + entry.output_tokens} tokens"
        for entry in checked.models
    )
    return Finding("model", "good", f"{checked.engine}: {words}")


def _nearest_existing(path: Path) -> Path:
    return path if path.exists() else _nearest_existing(path.parent)
