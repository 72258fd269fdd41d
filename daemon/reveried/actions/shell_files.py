"""Files of a folder that a shell command may write, and whether the words that it writes there are in the command.

A command is not run here, and it can compute names; what is found is what it names. In doubt a file that it names is
written: only programs that are known to read leave their arguments alone. Where it names the folder or a place below
it and no file (`cp *.md facts/`, `git -C ROOT pull`, `unzip -d facts x.zip`), or runs an unknown program there, it may
write any file of that place.
"""

from __future__ import annotations

import os
import re
import shlex
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final, NamedTuple

from reverie.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_FILE: Final = lazy_regex(r"[^\s'\"`()=,;]+\.md\b")
_HERE: Final = lazy_regex(
    r"<<-?\s*(?P<mark>['\"]?)(?P<end>\w+)(?P=mark)(?P<rest>[^\n]*)\n(?P<text>.*?)(?:^\s*(?P=end)\s*$|\Z)",
    re.DOTALL | re.MULTILINE,
)
# A patch of Codex's `apply_patch`, which has the words that it writes.
_PATCH: Final = lazy_regex(r"\*\*\* Begin Patch\n.*?(?:\*\*\* End Patch|\Z)", re.DOTALL)
_HERE_MARK: Final = "<<"
_BETWEEN: Final = frozenset({";", "&&", "||", "&", "(", ")", ";;"})
_PIPES: Final = frozenset({"|", "|&"})
_ASSIGNMENT: Final = lazy_regex(r"(?P<name>[A-Za-z_]\w*)=(?P<value>.*)", re.DOTALL)
_VARIABLE: Final = lazy_regex(r"\$\{?(?P<name>[A-Za-z_]\w*)\}?")
_PREFIXES: Final = frozenset({"sudo", "command", "time", "nohup", "env", "exec", "then", "do", "else", "!", "{"})
_SHELLS: Final = frozenset({"sh", "bash", "zsh", "dash", "ksh"})
_READERS: Final = frozenset(
    {
        "cat",
        "bat",
        "less",
        "more",
        "head",
        "tail",
        "grep",
        "egrep",
        "fgrep",
        "rg",
        "ag",
        "wc",
        "ls",
        "stat",
        "file",
        "diff",
    }
    | {
        "cmp",
        "md5sum",
        "sha1sum",
        "sha256sum",
        "test",
        "[",
        "[[",
        "echo",
        "printf",
        "nl",
        "od",
        "xxd",
        "jq",
        "cut",
        "uniq",
    }
    | {
        "tac",
        "du",
        "basename",
        "dirname",
        "realpath",
        "readlink",
        "cd",
        "pushd",
        "export",
        "fold",
        "column",
        "reverie",
        "tree",
    }
    | {
        "open",
        "xdg-open",
        "true",
        "which",
        "comm",
        "join",
        "paste",
        "tr",
        "strings",
        "awk",
        "gawk",
        "sed",
        "find",
        "sort",
    }
)
# What makes a reader write: `sed -i`, `awk -i inplace`, `sort -o`, `find … -exec`, `find … -delete`.
_WRITING_OPTION: Final = lazy_regex(
    r"^(?:-[a-zA-Z]*i\S*|--in-place\S*|inplace|-o\S*|--output\S*|-exec\w*|-ok\w*|-delete|-fprint\w*)$"
)
_MAY_WRITE: Final = frozenset({"awk", "gawk", "sed", "find", "sort"})
_GIT_READS: Final = frozenset(
    {"add", "diff", "log", "show", "status", "blame", "grep", "commit", "ls-files", "cat-file"}
)
# Subcommands that write no text into a working tree.
_GIT_QUIET: Final = _GIT_READS | {
    *("push", "fetch", "remote", "branch", "config", "rev-parse", "init", "tag", "describe", "ls-tree", "shortlog"),
    *("reflog", "gc", "check-ignore", "rm"),
}
# Programs that put no text of their own into a file, beside the readers.
_QUIET: Final = frozenset(
    "mkdir rmdir rm touch chmod chown sleep pwd date code kill type printenv unset set umask exit return wait zip gzip"  # noqa: SIM905
    " id whoami uname ps df tee for in while if fi done case esac read local declare }".split()
)
_RECURSIVE: Final = lazy_regex(r"^-(?:[a-zA-Z]*[rRa][a-zA-Z]*|-recursive|-archive)$")
_GLOB: Final = lazy_regex(r"[*?\[{]")
_COMPUTED: Final = lazy_regex(r"[*?\[{$`]")  # a name that the shell makes of it is not in the command
_COPIES: Final = frozenset({"cp", "mv", "install", "ln", "rsync", "scp"})
_LOADS: Final = frozenset({"curl", "wget"})
_PRINTS: Final = frozenset({"echo", "printf"})
_OUTSIDE: Final = "/"  # where a command is until it enters the folder
_DEPTH_MAX: Final = 3  # of shells in shells: `bash -c "sh -c …"`


class _Segment(NamedTuple):
    """One simple command: its words, the targets of its redirections, and whether it reads a here-document."""

    words: list[str]
    targets: list[str]
    reads_here: bool


def spellings(root: str) -> list[str]:
    """Return how a command may write the path of a folder: as it is, and from the home folder."""
    home = str(Path.home())
    rest = root[len(home) :] if root.startswith(home + "/") else None
    return [root] if rest is None else [root, f"~{rest}", f"$HOME{rest}", f"${{HOME}}{rest}"]


def paths_with_unknown_words(command: str, roots: Iterable[str], folder: str = "") -> list[str]:
    """Return the files and places of the folder that a command may write with words that it does not have itself.

    Paths are relative to the folder. A place ends with a slash, as "facts/", and any file of it may be written; "./" is
    the whole folder. `cat a.md >> facts/b.md`, `cp`, `curl -o`, `sed -i`, a program write such words;
    `echo "…" >> facts/b.md` does not: its words are there. `folder` is the path where the command runs.
    """
    ordered = sorted(roots, key=len, reverse=True)
    begin = (_resolved(folder, _OUTSIDE, ordered) if folder else "") or _OUTSIDE
    paths = dict.fromkeys(_written(_PATCH.sub("", command), ordered, begin, 0))
    return [path for path in paths if path.endswith("/") or not _COMPUTED.search(path)]


def _written(command: str, roots: Sequence[str], folder: str, depth: int) -> Iterator[str]:
    """Yield the files, and with a slash the folders, that a command may write with words that it does not have.

    `folder` is where the command begins, relative to the folder.
    """
    names = {"HOME": str(Path.home())}
    named_in_text = any(root in here["text"] for here in _HERE.finditer(command) for root in roots)
    for pipeline in _pipelines(command):
        has_words = _has_its_words(pipeline)
        for segment in pipeline:
            words = [_expanded(word, names) for word in segment.words]
            assignments = [_ASSIGNMENT.fullmatch(word) for word in words]
            if words and all(assignments):
                names.update((one["name"], one["value"]) for one in assignments if one)
                continue
            program = PurePosixPath(words[0]).name if words else ""
            if program in {"cd", "pushd"} and len(words) > 1:
                folder = _resolved(words[1], folder, roots) or _OUTSIDE
                continue
            if program in _SHELLS and depth < _DEPTH_MAX:
                inner = next((word for word in words[1:] if " " in word), "")
                yield from _written(inner, roots, folder, depth + 1)
            outputs = [(one, _expanded(one, names)) for one in segment.targets]
            if program == "tee":
                outputs += zip(segment.words[1:], words[1:], strict=True)
            for raw, target in outputs:
                path = _resolved(target, folder, roots)
                if path and _COMPUTED.search(raw) and (path.endswith(".md") or _COMPUTED.search(path)):
                    yield f"{_above(path)}/" if _COMPUTED.search(path) else path
            if has_words:
                continue
            for target in (*(target for _, target in outputs), *_targets(program, words[1:])):
                path = _resolved(target, folder, roots)
                if path and path.endswith(".md"):
                    yield path
            yield from (f"{prefix}/" for prefix in _places(program, words, folder, roots))
            if named_in_text and segment.reads_here and not _is_quiet(program, words[1:]):
                yield "./"


def _above(path: str) -> str:
    """Return the folder above the first computed part of a path: "facts" of `facts/*/a.md`."""
    fixed = [part for part in path.split("/")[:-1] if part]
    computed = next((at for at, part in enumerate(fixed) if _COMPUTED.search(part)), len(fixed))
    return "/".join(fixed[:computed]) or "."


def _places(program: str, words: Sequence[str], folder: str, roots: Sequence[str]) -> Iterator[str]:
    """Yield the places that a program may write any file of: where a folder is copied to, and what others name."""
    plain = [word for word in words[1:] if not word.startswith("-")]
    if program in _COPIES:
        if not plain:
            return
        into = next((words[at + 1] for at, word in enumerate(words[:-1]) if word in {"-t", "--target-directory"}), "")
        into = into or plain[-1]
        sources = [one for one in plain if one != into] or ["*"]
        several = any(_COMPUTED.search(one) for one in plain) or any(
            _RECURSIVE.match(word) or (word in sources and not PurePosixPath(word).suffix) for word in (*words[1:], "*")
        )
        path = _resolved(into, folder, roots)
        if path and several and not (path.endswith(".md") and not _COMPUTED.search(path)):
            yield _above(f"{path}/x")
    elif program and not _is_quiet(program, words[1:]):
        rest = [_FILE.sub("", word) for word in words]
        is_named = any(root in word for root in roots for word in rest)
        if folder != _OUTSIDE or is_named or any(_GLOB.search(one) and _resolved(one, folder, roots) for one in words):
            yield "."


def _is_quiet(program: str, words: Sequence[str]) -> bool:
    """Return True for a program that puts no text into files that its arguments do not name."""
    if program in _READERS:
        return not (program in _MAY_WRITE and any(_WRITING_OPTION.match(word) for word in words))
    if program == "git":
        values = {at + 1 for at, word in enumerate(words) if word in {"-C", "-c"}}
        plain = [word for at, word in enumerate(words) if at not in values and not word.startswith("-")]
        return not plain or plain[0] in _GIT_QUIET
    if program == "tar":  # making an archive, or listing one
        mode = next((word.lstrip("-") for word in words), "")
        return "x" not in mode and ("c" in mode or "t" in mode or "--create" in words or "--list" in words)
    if program in _LOADS:  # the files that they name are found; `wget -r` and `curl -J` name none
        return not any(_RECURSIVE.match(word) or word.startswith("-J") or "OJ" in word for word in words)
    return program in _QUIET or (program in _SHELLS and any(" " in word for word in words))


def _pipelines(command: str) -> Iterator[list[_Segment]]:
    """Yield the pipelines of a command; one of a single program that writes all its arguments if it cannot be read."""
    plain = _HERE.sub(_without_text, command.replace("\\\n", " "))
    lexer = shlex.shlex(plain.replace("\n", " ; "), posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        tokens = list(lexer)
    except ValueError:  # a quotation without an end
        yield [_Segment(["", *_FILE.findall(command)], [], reads_here=False)]
        return
    pipeline: list[_Segment] = []
    segment = _Segment([], [], reads_here=False)
    awaits = ""
    for token in (*tokens, ";"):
        if token in _BETWEEN or token in _PIPES:
            pipeline.append(segment)
            segment, awaits = _Segment([], [], reads_here=False), ""
            if token in _BETWEEN:
                yield pipeline
                pipeline = []
        elif set(token) <= set("<>|&") and token:
            awaits = token
            if token == _HERE_MARK:
                segment, awaits = segment._replace(reads_here=True), ""
        elif awaits:
            if ">" in awaits:
                segment.targets.append(token)
            awaits = ""
        elif not segment.words and token in _PREFIXES:
            continue
        else:
            segment.words.append(token)


def _without_text(here: re.Match[str]) -> str:
    """Return a here-document without its text; as an unknown input where the shell computes a part of the text."""
    computed = not here["mark"] and any(mark in here["text"] for mark in "$`")
    return f"{'< here' if computed else _HERE_MARK} {here['rest']}\n"


def _has_its_words(pipeline: Sequence[_Segment]) -> bool:
    """Return True if all that a pipeline writes is in the command: `echo "- x" | tee -a f`, `cat > f` with a text."""
    first = pipeline[0]
    program = first.words[0] if first.words else ""
    prints = program in _PRINTS and not any(mark in word for word in first.words for mark in "$`")
    types = program in {"cat", "tee"} and first.reads_here and (program == "tee" or len(first.words) == 1)
    return (prints or types) and all(one.words[:1] == ["tee"] for one in pipeline[1:])


def _targets(program: str, words: Sequence[str]) -> Iterator[str]:
    """Yield the files that a program may write, by its arguments."""
    options = [word for word in words if word.startswith("-")]
    plain = [word for word in words if not word.startswith("-")]
    if program in _READERS and not (program in _MAY_WRITE and any(_WRITING_OPTION.match(word) for word in words)):
        return
    if program == "git" and plain[:1] and plain[0] in _GIT_READS:
        return
    if program in _COPIES and plain:
        into = next(
            (words[at + 1] for at, word in enumerate(words[:-1]) if word in {"-t", "--target-directory"}), plain[-1]
        )
        yield into
        if into.endswith(".md"):
            return
        yield from (f"{into.rstrip('/')}/{PurePosixPath(one).name}" for one in plain if one != into)
        return
    if program in _LOADS:
        into = next((words[at + 1] for at, word in enumerate(words[:-1]) if word in {"-P", "--output-dir"}), ".")
        yield from (f"{into}/{PurePosixPath(one).name}" for one in plain if "://" in one)
    for word in (*plain, *options):
        yield from _FILE.findall(word)


def _expanded(word: str, names: dict[str, str]) -> str:
    word = _VARIABLE.sub(lambda match: names.get(match["name"], match[0]), word)
    return names["HOME"] + word[1:] if word == "~" or word.startswith("~/") else word


def _resolved(name: str, folder: str, roots: Sequence[str]) -> str:
    """Return a path relative to the folder, "." for the folder itself; empty for one outside of it.

    `folder` is where the command is, relative to the folder. A pattern of names that the folder matches is in it.
    """
    if "://" in name:
        return ""
    path = os.path.normpath(name)
    for root in roots:
        if path == root or path.startswith(root + "/"):
            return os.path.relpath(path, root)
        parts, own = path.split("/"), root.split("/")
        if path.startswith("/") and _GLOB.search(path) and len(parts) >= len(own) and all(map(fnmatchcase, own, parts)):
            return "/".join(parts[len(own) :]) or "."
    if path.startswith("/") or folder == _OUTSIDE:
        return ""
    path = os.path.normpath(f"{folder}/{path}")
    return "" if path.startswith("..") else path
