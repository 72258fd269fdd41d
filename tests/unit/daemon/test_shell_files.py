"""Tests of which files of a folder a shell command may write, with words that it does not have."""

from __future__ import annotations

import pytest

from reveried.actions.shell_files import paths_with_unknown_words, spellings

ROOT = "/srv/memory"


def files(command: str, roots: set[str], folder: str = "") -> list[str]:
    return [path for path in paths_with_unknown_words(command, roots, folder) if not path.endswith("/")]


def places(command: str, roots: set[str], folder: str = "") -> list[str]:
    return [path for path in paths_with_unknown_words(command, roots, folder) if path.endswith("/")]


@pytest.mark.parametrize(
    ("command", "file"),
    [
        ("cat a.md >> {}/facts/b.md", "facts/b.md"),
        ("cat a.md > {}/facts/b.md 2>&1", "facts/b.md"),
        ("cat a.md \\\n  >> {}/facts/b.md", "facts/b.md"),
        ("cat a.md | sort | tee -a {}/facts/b.md", "facts/b.md"),
        ('echo "$(cat a.md)" >> {}/facts/b.md', "facts/b.md"),
        ("cat >> {}/facts/b.md <<EOF\n$(cat a.md)\nEOF", "facts/b.md"),
        ("while read l; do echo $l; done < a >> {}/facts/b.md", "facts/b.md"),
        ("cp a.md {}/facts/b.md", "facts/b.md"),
        ("cp docs/a.md {}/facts/", "facts/a.md"),
        ("mv -t {}/facts docs/a.md", "facts/a.md"),
        ("curl -s https://x.example/a -o {}/facts/b.md", "facts/b.md"),
        ("cd {}/facts && curl -O https://x.example/a.md", "facts/a.md"),
        ("wget -P {}/facts https://x.example/a.md", "facts/a.md"),
        ("sed -i 's/a/b/' {}/facts/b.md", "facts/b.md"),
        ("dd if=a of={}/facts/b.md", "facts/b.md"),
        ("cd {} && cat ../a >> facts/b.md", "facts/b.md"),
        ('F={}/facts/b.md\ncat a >> "$F"', "facts/b.md"),
        ("bash -lc 'cat a >> {}/facts/b.md'", "facts/b.md"),
        ("python3 -c \"open('{}/facts/b.md', 'w').write(open('a').read())\"", "facts/b.md"),
        ("git checkout HEAD -- {}/facts/b.md", "facts/b.md"),
        ("cat 'a >> {}/facts/b.md", "facts/b.md"),
        ("cat a > /s*/mem*/facts/b.md", "facts/b.md"),
        ('D={}/facts; echo "- x" > $D/b.md', "facts/b.md"),
    ],
)
def test_what_a_command_writes(command: str, file: str) -> None:
    """A file is found that is a target of an output, of a copy, or an argument of a program that may write."""
    assert files(command.replace("{}", ROOT), {ROOT}) == [file]


@pytest.mark.parametrize(
    "command",
    [
        "echo '- line' >> {}/facts/b.md",
        "cat > {}/facts/b.md <<'EOF'\n- it's $HOME\nEOF",
        "cd {} && printf '%s\\n' '- line' | tee -a facts/b.md",
        "cat {}/facts/b.md",
        "*** Begin Patch\n*** Update File: {}/facts/b.md\n+- line\n*** End Patch",
        "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: {}/facts/b.md\n+- it's\n*** End Patch\nEOF",
        "grep -n x {}/facts/b.md | head -3 > /tmp/found.md",
        "cp {}/facts/b.md /tmp/b.md",
        "sed -n 1,3p {}/facts/b.md",
        "git add {}/facts/b.md && git commit -m x",
        "ls {} && cp a.md b.md",
        "cd {} && cat facts/b.md; cd /tmp && cat a > c.md",
        "cat a >> {}-other/facts/b.md",
        "cat a >> {}/../b.md",
    ],
)
def test_what_a_command_does_not_write(command: str) -> None:
    """A file that is read, one outside of the folder, and one whose new words are in the command, is not found."""
    assert files(command.replace("{}", ROOT), {ROOT}) == []


@pytest.mark.parametrize(
    ("command", "place"),
    [
        ("cp *.md {}/facts/", "facts/"),
        ("cp -r notes {}/facts", "facts/"),
        ("mv notes {}", "./"),
        ("rsync -a notes/ {}/facts/", "facts/"),
        ("cp a.md {}/*/", "./"),
        ("cat a >> {}/facts/*.md", "facts/"),
        ("cat a | tee {}/facts/{b,c}.md", "facts/"),
        ("echo '- x' > {}/facts/$(date +%F).md", "facts/"),
        ("cat a > /srv/*/facts/*.md", "facts/"),
        ("git -C {} pull", "./"),
        ("cd {} && git pull", "./"),
        ("cd {}/facts && make install-notes", "./"),
        ("NOTES={} make install-notes", "./"),
        ("make DESTDIR={}/facts install", "./"),
        ("unzip -o x.zip -d {}/facts", "./"),
        ("tar xzf notes.tgz -C {}", "./"),
        ("find . -name '*.md' -exec cp {} {}/facts ;", "./"),
        ("bash -c 'cd {} && ./generate'", "./"),
        ("python3 - <<'EOF'\nfor n in (1, 2): open(f'{}/facts/{n}.md', 'w')\nEOF", "./"),
        ("wget -r -P {}/facts https://x.example", "./"),
        ("D={}/facts; ./gen $D", "./"),
    ],
)
def test_a_place_that_a_command_may_write(command: str, place: str) -> None:
    """A command that names the folder or a place in it, or runs a program there, may write any file of it."""
    assert place in places(command.replace("{}", ROOT), {ROOT})


@pytest.mark.parametrize(
    "command",
    [
        "cp -r {} /tmp/backup",
        "cp {}/facts/*.md /tmp",
        "cp a.md {}/facts/b.md",
        "cp a.md {}/facts/",
        "tar czf /tmp/x.tgz {}",
        "git -C {} log -3",
        "git -C {} add . && git -C {} commit -m x && git -C {} push",
        "ls -la {} && grep -rn x {}/facts | head",
        "find {} -name '*.md'",
        "for f in {}/facts/*.md; do cat $f; done",
        "mkdir -p {}/facts && touch {}/facts/a.md",
        "cat {}/facts/*.md > /tmp/all.md",
        "cd {} && ls; cd /tmp && make",
        "cd {}-other && make",
        "echo '- line' >> {}/facts/b.md",
        "cat > {}/facts/b.md <<'EOF'\n- {} is the folder\nEOF",
        "git commit -m \"$(cat <<'EOF'\nthe folder {}\nEOF\n)\"",
        "cat a > /srv/*/other.d/../../b.md",
    ],
)
def test_no_place_of_a_command_that_reads(command: str) -> None:
    """Readers, copies out of the folder, and commands that name the file that they write, write nothing else."""
    assert places(command.replace("{}", ROOT), {ROOT}) == []


@pytest.mark.parametrize(
    ("command", "folder", "written"),
    [
        ("make install-notes", ROOT, ["./"]),
        ("make install-notes", f"{ROOT}/facts", ["./"]),
        ("make install-notes", "/srv", []),
        ("cp ../*.md .", f"{ROOT}/facts", ["facts/"]),
        ("git status && ls", ROOT, []),
    ],
)
def test_where_a_command_runs(command: str, folder: str, written: list[str]) -> None:
    """A command in the folder may write there without naming it."""
    assert places(command, {ROOT}, folder) == written
    assert files("cat /srv/a > b.md", {ROOT}, f"{ROOT}/facts") == ["facts/b.md"]


def test_a_folder_in_the_home_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command may name a folder from the home folder."""
    monkeypatch.setenv("HOME", "/home/ann")
    assert spellings("/home/ann/Reverie") == ["/home/ann/Reverie", "~/Reverie", "$HOME/Reverie", "${HOME}/Reverie"]
    assert spellings("/home/anna/Reverie") == ["/home/anna/Reverie"]
    for name in spellings("/home/ann/Reverie"):
        assert files(f"cat a >> {name}/b.md", {"/home/ann/Reverie"}) == ["b.md"]
