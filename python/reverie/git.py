"""The repository that a folder belongs to: where its git folder is, the address of its remote, and readable names.

Reads `.git`, `commondir` and `config` below the paths that it is given, and runs no git. Worktrees, subfolders and
clones of one repository lead to one `Checkout.remote` or one first folder.
"""

from __future__ import annotations

import os
import re
import stat
import unicodedata
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urlsplit

from reverie.lazy_regex import lazy_regex
from reverie.paths import DOCUMENT_SUFFIXES, segment_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_FILE_BYTES_MAX: Final = 1024 * 1024  # of a git file that is read; a config has some hundred
_LOCAL_HOPS_MAX: Final = 8  # clones of clones of clones … by their paths
_SLUG_CHARS_MAX: Final = 60
_REMOTE_SECTION: Final = lazy_regex(r'\[\s*remote\s+"(?P<name>(?:[^"\\]|\\.)*)"\s*\]', re.IGNORECASE)
_URL_LINE: Final = lazy_regex(r"url\s*=\s*(?P<url>.*)", re.IGNORECASE)
_SCP: Final = lazy_regex(r"(?:[^@/\s]+@)?(?P<host>\[[^\]]+\]|[^:/\s]{2,}):(?P<path>(?!//)\S.*)")
# "To github.com:ann/harbour.git" of a push, "From https://..." of a fetch, as JSON has them: with escaped line ends.
# Looked for by their first word: a search for fixed bytes takes a twentieth of the time of one for a pattern.
_REMOTE_WORDS: Final = (b"To ", b"From ")
_REMOTE_BEFORE: Final = (rb"\n", b'"')
_GIT_REMOTE: Final = re.compile(  # noqa: TID251 - bytes
    rb'(?P<url>(?:https?|ssh)://[^\s"\\]{4,200}|(?:[\w.-]+@)?[\w-]+(?:\.[\w-]+)+:[^\s"\\]{3,200})(?=\\n)'
)
_DEFAULT_PORTS: Final = {"ssh": 22, "git": 9418, "http": 80, "https": 443}
_WORKTREE_FOLDERS: Final = (".worktrees", "worktrees")
_WORKTREE_SIBLING: Final = lazy_regex(r"(?P<repository>.+)[-._]worktrees")
_WORDS: Final = lazy_regex(r"[^\w.-]+|_*-[-_]*")
# `C:\x`, `\\?\C:\x`, `\\wsl$\Ubuntu\x`, `\\server\share\x`
_WINDOWS: Final = lazy_regex(
    r"(?:[\\/]{2}[?.][\\/])?(?:(?P<drive>[A-Za-z]):(?:[\\/]|$)|(?:[\\/]{2}|UNC[\\/])(?:wsl(?:\$|\.localhost)[\\/][^\\/]+)?)"
    r"(?P<rest>.*)",
    re.DOTALL | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Checkout:
    """The repository, or the plain folder, that a folder is a checkout of.

    `remote` is the normalized address of the repository's remote, empty without one. `folders` are paths by which it
    is known, the one that identifies it first: of a repository the folder of its main worktree (of a clone by a path,
    that of the repository it was cloned from), last the worktree in use. `exists` is False for a folder that is gone.
    """

    remote: str
    folders: tuple[str, ...]
    is_repository: bool
    exists: bool = True


def locate(folder: str) -> Checkout:
    """Return the repository that `folder` is in, an absolute path; where there is none, the folder itself.

    A folder that does not exist any more, as the cwd of an old transcript, belongs to the repository of the nearest
    folder above it that exists, else to where worktrees of its shape are made. Files that cannot be read count as
    absent.
    """
    path = _real(folder)
    candidates = [path] if main_folder(path) is None else [path, main_folder(path) or path]
    for candidate in candidates:
        repository = _repository_above(candidate)
        if repository is not None:
            worktree, common = repository
            remote, origin = _origin(common, _LOCAL_HOPS_MAX)
            return Checkout(
                remote, tuple(dict.fromkeys((origin, _main_worktree(common), worktree))), is_repository=True
            )
    exists = os.path.isdir(path)  # noqa: PTH112 - `is_dir` raises where a folder above may not be read
    return Checkout("", (candidates[-1],), is_repository=False, exists=exists)


def posix_folder(path: str) -> str | None:
    r"""Return the absolute path by which a folder is known here, one of Windows as WSL mounts it; None for another.

    Examples: `C:\Users\ann\harbour` is `/mnt/c/Users/ann/harbour`, and `\\wsl$\Ubuntu\home\ann\harbour` is
    `/home/ann/harbour`.
    """
    if path.startswith("/") and not path.startswith("//"):
        return path
    match = _WINDOWS.fullmatch(path)
    if match is None:
        return None
    rest = re.sub(r"[\\/]+", "/", match["rest"] or "").strip("/")
    return f"/mnt/{match['drive'].lower()}/{rest}".rstrip("/") if match["drive"] else f"/{rest}"


def below(folder: str, folders: Iterable[str]) -> str | None:
    """Return which of the folders a path is in or is itself, None for none; by the texts alone, however it is written.

    Example: `/home/ann//harbour/` and `/home/ann/tide/../harbour/src` are in `/home/ann/harbour`.
    """
    path = os.path.normpath(posix_folder(folder) or folder)
    return next((one for one in folders if path == one or path.startswith(one.rstrip("/") + "/")), None)


def real_folder(folder: str) -> str:
    """Return an absolute path, as a transcript has it, without links; another path unchanged."""
    path = posix_folder(folder)
    try:
        return folder if path is None else _real(path)
    except ValueError:  # half of a surrogate pair, which no path has
        return folder


def main_folder(path: str) -> str | None:
    """Return the folder that a path of the shape of a worktree was made from, by its name alone; None for others.

    Examples: `/home/ann/harbour/.worktrees/3` and `/home/ann/harbour/.claude/worktrees/fix` are of `/home/ann/harbour`,
    and so is `/home/ann/harbour-worktrees/fix`. Of `/home/ann/.cursor/worktrees/harbour/x1` only the name is known:
    it is of `/home/ann/.cursor/worktrees/harbour`.
    """
    parts = PurePosixPath(path).parts
    for index, part in enumerate(parts[:-1]):
        if index == 0:
            continue
        sibling = _WORKTREE_SIBLING.fullmatch(part)
        if sibling is not None and part not in _WORKTREE_FOLDERS:
            return str(PurePosixPath(*parts[:index], sibling["repository"]))
        if part not in _WORKTREE_FOLDERS and parts[index - 1 : index + 1] != ("conductor", "workspaces"):
            continue
        above = parts[:index]
        if part == "worktrees" and above[-1].startswith(".") and above[-1] != ".git":
            above = above[:-1]  # a tool's folder: `.claude/worktrees`
        if part == "workspaces" or is_shared_folder(str(PurePosixPath(*above))):
            # Worktrees of all repositories together: `worktrees/harbour/fix`, or `worktrees/a1b2/harbour` of Codex.
            name = parts[index + 2] if ".codex" in parts[:index] and index + 2 < len(parts) else parts[index + 1]
            return str(PurePosixPath(*parts[: index + 1], name))
        return str(PurePosixPath(*above))
    return None


def is_shared_folder(path: str) -> bool:
    """Return True for a home folder and folders above one: it contains many projects, and is not one.

    Example: `/home/ann` may be a repository of dotfiles, and `/home/ann/harbour` is still no part of it.
    """
    parts = PurePosixPath(path).parts
    if parts[1:2] == ("mnt",) and len(parts) > 2 and len(parts[2]) == 1:  # a drive of Windows
        return len(parts) <= 3 or (parts[3].lower() == "users" and len(parts) <= 5)
    return len(parts) <= 2 or (parts[1] in {"home", "Users"} and len(parts) <= 3) or parts[:3] == ("/", "var", "tmp")


def normalized_remote(url: str) -> str:
    """Return `host/path` of a remote's address, the same for its https, ssh and scp forms; "" for a path on the disk.

    Credentials, default ports, `.git` and the case of the host are dropped. Examples: `git@github.com:Ann/harbour.git`
    and `https://ann:secret@GitHub.com/Ann/harbour/` are `github.com/ann/harbour`. The path is lower case too: the big
    hosts do not tell `Ann` from `ann`.
    """
    url = url.strip()
    if "://" in url:
        try:
            split = urlsplit(url)
            host, port = split.hostname or "", split.port
        except ValueError:
            return ""
        scheme = split.scheme.lower().removeprefix("git+")
        if scheme == "file" or not host:
            return ""
        number = f":{port}" if port and port != _DEFAULT_PORTS.get(scheme) else ""
        return _joined(host + number, unquote(split.path))
    match = _SCP.fullmatch(url)
    return "" if match is None else _joined(match["host"].strip("[]"), match["path"])


def remotes_in(data: bytes) -> set[str]:
    """Return the normalized addresses of the remotes in git's output of a push or fetch in these lines of JSON."""
    urls = {match["url"] for at in _after_words(data) if (match := _GIT_REMOTE.match(data, at))}
    return {normalized_remote(url.decode("utf-8", "replace")) for url in urls} - {""}


def _after_words(data: bytes) -> Iterator[int]:
    """Yield the offset after each phrase that announces a remote, if the phrase begins a line or a text."""
    for word in _REMOTE_WORDS:
        at = data.find(word)
        while at >= 0:
            if data.endswith(_REMOTE_BEFORE, max(0, at - 2), at):
                yield at + len(word)
            at = data.find(word, at + 1)


def readable_names(checkout: Checkout) -> Iterator[str]:
    """Yield names for a project, the shortest first: `harbour`, `ann-harbour`, …, then `harbour-2` and so on."""
    address = checkout.remote or checkout.folders[0]
    parts = [part for part in address.split("/") if slug(part)]
    parts[-1:] = [part.removesuffix(".git") or part for part in parts[-1:]]
    shortest = next((size for size in range(1, len(parts)) if re.search(r"[^\W\d_]", "".join(parts[-size:]))), 1)
    for size in range(shortest, min(len(parts), shortest + 2) + 1):
        yield project_name("-".join(parts[-size:]))
    number = 2
    while True:
        yield f"{project_name('-'.join(parts[-shortest:])) or 'project'}-{number}"
        number += 1


def slug(text: str) -> str:
    """Return a text as the name of a project and of its folder: lower case letters, digits and `. _ -`."""
    name = (
        text.casefold()
        if text.isascii()
        else unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    )
    return _WORDS.sub("-", name).strip(".-_ ")[:_SLUG_CHARS_MAX].rstrip(".-_")


def project_name(text: str) -> str:
    """Return a text as the name of a new project: its slug, in other words where no folder can be called so.

    Examples: `con`, which Windows has for a device, is `con-project`; `agents.md`, a file's name, is `agents-md`.
    """
    name = slug(text)
    if name and not _can_be_folder(name):
        name = name.replace(".", "-")
        name = name if _can_be_folder(name) else f"{name}-project"
    return name


def _can_be_folder(name: str) -> bool:
    return segment_error(name) is None and not name.endswith(tuple(DOCUMENT_SUFFIXES))


def _real(folder: str) -> str:
    r"""Return an absolute path without links; the part of it that does not exist stays as it is.

    A zero byte, which no path has, is left out: `/home/ann\0/x` of a damaged transcript is `/home/ann/x`.
    """
    return os.path.realpath(folder.replace("\0", ""))


def _repository_above(path: str) -> tuple[str, str] | None:
    """Return the nearest worktree at or above a path, and its repository's common git folder; or None.

    Above the path a home folder is skipped, so that dotfiles kept in git are not the repository of everything.
    """
    here = Path(path)
    for folder in (here, *here.parents):
        if folder != here and is_shared_folder(str(folder)):
            return None
        common = _common_folder(folder)
        if common is not None:
            return str(folder), str(common)
    return None


def _common_folder(folder: Path) -> Path | None:
    """Return the git folder, shared by all worktrees, of the checkout or bare repository `folder`, or None."""
    entry = folder / ".git"
    if _is_git_folder(entry):
        return _followed(entry)
    text = _read(entry)
    if text is not None and text.startswith("gitdir:"):
        git = folder / text.removeprefix("gitdir:").strip()
        if _is_git_folder(git):
            return _followed(git)
    return folder if _is_git_folder(folder) and (folder / "refs").is_dir() else None


def _followed(git: Path) -> Path:
    """Return the common folder that a git folder names in `commondir`, else the folder itself."""
    text = _read(git / "commondir")
    return Path(_real(str(git if text is None else git / text.strip())))


def _is_git_folder(path: Path) -> bool:
    """Return True if a folder has what git asks of a git folder: `HEAD`, and `objects` or a `commondir`."""
    try:
        return (path / "HEAD").is_file() and ((path / "objects").is_dir() or (path / "commondir").is_file())
    except OSError:
        return False


def _main_worktree(common: str) -> str:
    """Return the folder that a repository is known by: that around `.git` or `.bare`, a bare repository's own."""
    path = Path(common)
    return str(path.parent) if path.name in {".git", ".bare"} else common


def _origin(common: str, hops: int) -> tuple[str, str]:
    """Return a repository's normalized remote ("" without one) and main folder; of a clone of a local one the latter's.

    That of a clone by a path on this disk is the one that it was cloned from, and so on: it has the same origin.
    """
    main = _main_worktree(common)
    url = _remote_url(_read(Path(common) / "config") or "")
    remote = normalized_remote(url)
    if remote or not url:
        return remote, main
    source = _real(str(Path(main) / _path_on_disk(url)))
    common_folder = _common_folder(Path(source)) if hops > 0 else None
    return ("", source) if common_folder is None else _origin(str(common_folder), hops - 1)


def _path_on_disk(url: str) -> str:
    """Return the path of a remote that is on this disk, given as a path or as a file URL; "." where it has none."""
    if not url.startswith("file:"):
        return url
    try:
        return unquote(urlsplit(url).path) or "."
    except ValueError:  # such as `file://[x`
        return "."


def _remote_url(config: str) -> str:
    """Return the address of `origin` in a git config, else that of `upstream`, else that of the first remote."""
    urls: dict[str, str] = {}
    remote: str | None = None
    for line in (line.strip() for line in config.splitlines()):
        if line.startswith("["):
            section = _REMOTE_SECTION.match(line)
            remote = None if section is None else section["name"]
        elif remote is not None and (match := _URL_LINE.fullmatch(line)) is not None:
            urls.setdefault(remote, _value(match["url"]))
    return urls.get("origin") or urls.get("upstream") or next(iter(urls.values()), "")


def _value(text: str) -> str:
    """Return a value of a git config without quotes and the comment after it."""
    quoted = re.match(r'"((?:[^"\\]|\\.)*)"', text)
    return quoted[1].replace('\\"', '"').replace("\\\\", "\\") if quoted else re.split(r"\s[#;]", text)[0].strip()


def _read(path: Path) -> str | None:
    """Return the beginning of a regular file as text, or None; never waits for a pipe of that name."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return None
            return os.read(descriptor, _FILE_BYTES_MAX).decode("utf-8", "replace")
        finally:
            os.close(descriptor)
    except (OSError, ValueError):  # ValueError: a path with a zero byte
        return None


def _joined(host: str, path: str) -> str:
    """Return host and path of a remote in one spelling."""
    return f"{host}/{re.sub('/+', '/', path).strip('/').removesuffix('.git')}".rstrip("/").lower()
