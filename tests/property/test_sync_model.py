"""Model-based test of sync: people and agents act at random, and no word is lost.

There is one person with any number of open buffers, and any number of agents. Words are unique, so that each can be
followed. A word may go only if somebody who had seen it replaced it:

- an agent sees the store's whole text when it writes;
- the person sees what they type, what they open, and what they delete, copy, move or put back on purpose; and so does
  who saves the same again;
- what a save left out is not lost if it was named, and the version before has it, so that an undo brings it back.
"""

from __future__ import annotations

import copy
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from reverie.sync.merge_plan import without_lines
from reverie.sync.plan import (
    Rules,
    is_own_write,
    lines_of,
    sha256,
)
from support.soak import count
from support.sync_sides import MINUTE, REDACTOR, SECRET_START, Sides, Texts, changes_nothing, words


def fewer(old: str, new: str) -> set[str]:
    """Return the words that the new text lacks, or has less often."""
    gone = Counter(old.replace("\ufeff", " ").split()) - Counter(new.replace("\ufeff", " ").split())
    return words(old) & set(gone)


def is_secret(word: str) -> bool:
    return word.startswith(SECRET_START)


NAMES = ("a.md", "b.md", "facts/c.md", "facts/d.md")


@dataclass
class Buffer:
    """A file that is open in an editor: the loaded text, and the edited one."""

    path: str
    loaded: str
    text: str


@dataclass
class Model:
    """Folder and store, the open buffers, every word that was written, and the words that were replaced knowingly."""

    pick: random.Random
    sides: Sides = field(default_factory=lambda: Sides(rules=Rules(mass_min=3)))
    texts: Texts = field(init=False)
    buffers: list[Buffer] = field(default_factory=list)
    written: set[str] = field(default_factory=set)
    replaced: set[str] = field(default_factory=set)
    seen: dict[str, set[str]] = field(default_factory=dict)  # by path: what the person has seen there
    own: set[str] = field(default_factory=set)  # texts that the person has saved
    put_back: str | None = None  # a file that was saved as it once was, and not looked at since
    placed: bool = False  # whether a file took another's place since then: both are to be looked at together
    touched: bool = False  # whether the person did anything to the folder since both sides were at rest
    excused: int = 0  # words that went though nobody had opened them

    def __post_init__(self) -> None:
        self.texts = Texts(self.pick)

    # Agents

    def agent_writes(self) -> None:
        """Let an agent that has read a document rewrite it, or create one."""
        path = self.pick.choice(NAMES)
        document = self.sides.document(path)
        if document is None:
            text = self.texts.fresh()
        else:
            text = document.text
            for _ in range(self.pick.randint(1, 3)):
                text = self.texts.edited(text)
            # Of a word that a merge has doubled, one was taken out here, and the other may be taken out elsewhere.
            self.replaced |= fewer(document.text, text)
            self.replaced -= words(text) - words(document.text)
        self.written |= words(text)
        self.sides.put(path, REDACTOR.text(text))

    def agent_deletes(self) -> None:
        """Let an agent that has read a document delete it."""
        path = self.pick.choice(NAMES)
        document = self.sides.document(path)
        if document is not None:
            self.replaced |= words(document.text)
            self.sides.delete(path)

    # The person

    def opens(self) -> None:
        """Load a file into a new buffer, or reload a buffer."""
        if not self.sides.files:
            return
        path = self.pick.choice(sorted(self.sides.files))
        text = self.looks_at(path)
        self.buffers.append(Buffer(path, text, text))
        del self.buffers[:-6]

    def looks_at(self, path: str) -> str:
        """Return the file's text, and note that the person has seen it."""
        text = self.sides.files[path].decode()
        self.seen.setdefault(path, set()).update(words(text))
        return text

    def types(self) -> None:
        """Edit a buffer without saving it."""
        if self.buffers:
            buffer = self.pick.choice(self.buffers)
            buffer.text = self.texts.edited(buffer.text, secrets=True)

    def begins(self) -> None:
        """Open a new buffer for a name that may exist."""
        path = self.pick.choice(NAMES)
        if path not in self.sides.files:
            text = self.texts.fresh()
            self.buffers.append(Buffer(path, "", text))

    def saves(self) -> None:
        """Save a buffer in one of the ways of editors."""
        if not self.buffers:
            return
        buffer = self.pick.choice(self.buffers)
        if self.is_elsewhere(buffer.path, self.sides.files.get(buffer.path, b"")):
            self.settles()
        self.tells_old_texts_apart(buffer)
        self.accounts(buffer.path, buffer.text, everything=False, loaded=buffer.loaded)
        match self.pick.randrange(4):
            case 0:  # truncate, then write
                self.sides.sync([buffer.path])
                self.sides.save(buffer.path, "")
                self.looks_meanwhile()
            case 1:  # rename the old one away, then write
                self.sides.sync([buffer.path])
                self.sides.files.pop(buffer.path, None)
                self.looks_meanwhile()
        if self.is_again(buffer):
            self.replaced |= self.shown(buffer.path) - words(buffer.text)
        self.sides.save(buffer.path, buffer.text)
        buffer.loaded = buffer.text

    def looks_meanwhile(self) -> None:
        """Sync between two steps of a save, which take less than a quiet period."""
        for _ in range(self.pick.randrange(3)):
            self.sides.sync()
            self.sides.now_ms += self.pick.randrange(900)

    def tells_old_texts_apart(self, buffer: Buffer) -> None:
        """Sync before a second file is saved with an earlier text: two at once would be taken for a branch switch."""
        if self.is_elsewhere(buffer.path, buffer.text.encode()):
            buffer.text = self.texts.edited(buffer.text) + self.texts.word()
        if self.is_put_back(buffer):
            if self.put_back not in {None, buffer.path}:
                self.settles()
            self.put_back = buffer.path

    def is_elsewhere(self, path: str, data: bytes) -> bool:
        """Return True if another file has these bytes, or had them when it was last handled."""
        sides, digest = self.sides, sha256(data)
        others = {*sides.files, *sides.baselines} - {path}
        known = {baseline.sha256 for other, baseline in sides.baselines.items() if other in others}
        return digest in known or any(sides.files.get(other) == data for other in others)

    def is_put_back(self, buffer: Buffer) -> bool:
        """Return True if the buffer has an earlier text of its document."""
        return self.was_seen(buffer.path, buffer.text)

    def was_seen(self, path: str, text: str) -> bool:
        """Return True if sync has ever handled this text at the path."""
        redacted, baseline = REDACTOR.text(text), self.sides.baselines.get(path)
        texts = {version.text for version in self.sides.versions.get(path, ())}
        return redacted in texts or (
            baseline is not None and baseline.saved is not None and redacted == baseline.saved.text
        )

    def is_again(self, buffer: Buffer) -> bool:
        """Return True if the very same save was merged a while ago."""
        baseline = self.sides.baselines.get(buffer.path)
        if baseline is None or baseline.merged != sha256(buffer.text.encode()):
            return False
        return all(self.sides.now_ms - write.at >= 1_000 for write in baseline.shown[:1])

    def accounts(self, path: str, text: str, *, everything: bool, loaded: str = "") -> None:
        """Record a person's save: words that they had seen, and that the save lacks, count as replaced knowingly.

        What they loaded and left as it was is not written by them: an agent may have replaced it meanwhile.
        """
        new, seen = words(text), self.seen.setdefault(path, set())
        self.own.add(text)
        if everything and path in self.sides.files:
            disk = words(self.sides.files[path].decode()) | self.shown(path)
            self.excused += len(disk - seen - new)
            seen |= disk
        self.written |= new
        self.replaced |= seen - new
        self.replaced -= new - words(loaded)
        seen |= new
        self.touched = True

    def deletes(self) -> None:
        """Delete a file."""
        if self.sides.files:
            path = self.pick.choice(sorted(self.sides.files))
            if self.is_elsewhere(path, self.sides.files[path]):
                self.settles()
            if path not in self.sides.files:
                return
            self.accounts(path, "", everything=True)
            self.takes_away(path)

    def takes_away(self, path: str) -> None:
        """Note the removal of a file with its baseline's words, whatever was saved over it since the last scan."""
        self.replaced |= self.shown(path)
        del self.sides.files[path]

    def shown(self, path: str) -> set[str]:
        """Return the words of the text on which folder and store last agreed at a path."""
        baseline = self.sides.baselines.get(path)
        versions = self.sides.versions.get(path, ()) if baseline else ()
        texts = (version.text for version in versions if baseline and version.operation == baseline.operation)
        return words(" ".join(texts))

    def moves(self) -> None:
        """Rename or copy a file, replacing the one at the target."""
        if not self.sides.files:
            return
        old, new = self.pick.choice(sorted(self.sides.files)), self.pick.choice(NAMES)
        text, keep = self.looks_at(old), self.pick.random() < 0.3
        if old == new or (keep and self.was_seen(new, text)):
            return
        back = new in self.sides.files or self.was_seen(new, text) or self.is_elsewhere(old, self.sides.files[old])
        if back:  # a text that was there before: both places are to be looked at together
            self.settles()
            if old not in self.sides.files:
                return
            text = self.looks_at(old)
        stale = self.replaced & (words(text) - words(self.sides.text(old) or ""))
        there = " ".join((self.sides.files.get(new, b"").decode(), *self.shown(new)))
        if is_own_write(self.sides.baselines.get(new), sha256(text.encode())):
            there = text  # it is back where it was, as if it had never been away
        self.accounts(new, text, everything=True, loaded=there)
        self.replaced |= self.shown(new) - words(text)
        self.placed = self.placed or new in self.sides.files
        self.sides.save(new, text)
        if not keep:
            self.seen[old] -= words(text)
            self.takes_away(old)
            # Words that were at both places go the way of those that were there; so do an agent's cuts in a stale save.
            self.replaced = (self.replaced - words(text)) | (words(text) & words(there)) | stale
        if back:
            self.sides.sync()

    # Sync

    def looks(self) -> None:
        """Sync all paths, or some, because events get lost."""
        paths = self.sides.paths()
        some = self.pick.sample(paths, k=self.pick.randint(0, len(paths))) if self.pick.random() < 0.5 else None
        self.sides.sync(some)

    def dies(self) -> None:
        """Carry out a plan up to some step."""
        steps = self.sides.steps(self.sides.plan())
        for step in steps[: self.pick.randint(0, len(steps))]:
            step()

    def is_raced(self) -> None:
        """Let the person save or an agent write while a plan is carried out."""
        steps = self.sides.steps(self.sides.plan())
        at = self.pick.randint(0, len(steps))
        for number, step in enumerate(steps):
            if number == at:
                self.pick.choice((self.writes_through, self.agent_writes))()
            if not step():
                break

    def writes_through(self) -> None:
        """Save a buffer into the file that was displaced a moment ago."""
        if not self.buffers:
            return
        buffer = self.pick.choice(self.buffers)
        there = self.sides.files.get(buffer.path)
        if (
            there is None
            or not is_own_write(self.sides.baselines.get(buffer.path), sha256(there))
            or self.is_put_back(buffer)
        ):
            return
        self.accounts(buffer.path, buffer.text, everything=False, loaded=buffer.loaded)
        buffer.loaded = buffer.text
        self.sides.late_write(buffer.path, buffer.text)

    def time_passes(self) -> None:
        """Let a moment, some seconds or an hour pass, or set the clock back."""
        self.sides.now_ms += self.pick.choice((100, 1_500, 3_000, 30_000, 70_000, 3_600_000, -3_000, -3_600_000))

    def vanishes(self) -> None:
        """Empty the folder for a while: nothing may be deleted, whatever the clock shows."""
        self.settles()
        files, before = dict(self.sides.files), dict(self.sides.baselines)
        if len(files) <= self.sides.rules.mass_min:
            return
        self.sides.files.clear()
        for _ in range(2):
            plan = self.sides.sync()
            assert plan.stops
            assert changes_nothing(plan)
            self.sides.now_ms += MINUTE
        self.sides.files = files
        assert self.sides.baselines == before
        self.settles()

    # Laws

    def settles(self) -> None:
        """Sync without further edits until nothing changes, then check every law."""
        if self.pick.random() < 0.1 and not self.placed:
            self.check_order()
        agreeing = {path: data for path, data in self.sides.files.items() if self.sides.agrees(path)}
        operation = self.sides.operation
        self.comes_to_rest(self.sides)
        self.put_back, self.placed = None, False
        for path, data in agreeing.items():
            assert self.is_as_before(path, data), f"{path} was rewritten"
        if not self.touched:
            assert self.sides.operation == operation, "an echo of what the store had written"
        self.touched = any(SECRET_START.encode() in data for data in self.sides.files.values())
        self.check_sides()
        self.check_words()

    def is_as_before(self, path: str, data: bytes) -> bool:
        """Return True if a file has these bytes still, without lines that were moved to another file."""
        before, now = data.decode(), self.sides.files[path].decode()
        others = "\n".join(file.decode() for other, file in self.sides.files.items() if other != path)
        moved = lines_of(before) - lines_of(now)
        return now == without_lines(before, moved) and moved <= lines_of(others)

    def comes_to_rest(self, sides: Sides) -> None:
        """Sync until nothing is left to be done, with deletions accepted."""
        sides.rules = Rules(mass_min=1_000)
        sides.settle()
        sides.rules = Rules(mass_min=3)

    def check_sides(self) -> None:
        """Assert that files and documents are equal, and that no id is used twice."""
        sides = self.sides
        assert sorted(sides.files) == sorted(path for path in sides.versions if path not in sides.gone)
        assert all(sides.agrees(path) for path in sides.files)
        ids = [id_ for path in sides.files for id_, _ in sides.blocks[path]]
        assert len(ids) == len(set(ids))

    def check_words(self) -> None:
        """Assert that no word is lost unless replaced knowingly, and that secrets are in files alone."""
        texts = [self.sides.text(path) or "" for path in self.sides.files]
        assert not any(
            SECRET_START in version.text for versions in self.sides.versions.values() for version in versions
        )
        assert SECRET_START not in repr(self.sides.baselines)
        there = {word for data in self.sides.files.values() for word in words(data.decode())}
        assert {word for text in texts for word in words(text)} == {word for word in there if not is_secret(word)}
        lost = self.written - there - self.replaced - self.sides.named()
        assert not lost, f"lost: {sorted(lost)}"

    def check_order(self) -> None:
        """Assert that syncing paths one by one gives the same texts in any order."""
        ends = []
        for backwards in (False, True):
            sides = copy.deepcopy(self.sides)
            sides.rules = Rules(mass_min=1_000)
            for path in sorted(sides.paths(), reverse=backwards):
                sides.sync([path])
            self.comes_to_rest(sides)
            ends.append(sorted((path.split(".sync-")[0], data) for path, data in sides.files.items()))
        assert ends[0] == ends[1]


STEPS = 50


# What people, agents, the clock and the daemon do; some of it twice as often.
ACTS = [
    Model.agent_writes,
    Model.agent_writes,
    Model.agent_deletes,
    Model.opens,
    Model.begins,
    Model.types,
    Model.types,
]
ACTS += [Model.saves, Model.saves, Model.deletes, Model.moves, Model.looks, Model.dies, Model.is_raced]
ACTS += [Model.writes_through, Model.time_passes, Model.vanishes, Model.settles]


class SyncMachine(RuleBasedStateMachine):
    """State machine: each rule is one of ACTS; `Model.settles` checks the laws."""

    model: Model

    @initialize(seed=st.integers(0, 2**32))
    def begin(self, seed: int) -> None:
        self.model = Model(random.Random(seed))

    def teardown(self) -> None:
        if hasattr(self, "model"):
            self.model.settles()


def _rule(act: Callable[[Model], None], name: str) -> Callable[[SyncMachine], None]:
    def acts(machine: SyncMachine) -> None:
        act(machine.model)

    acts.__name__ = name
    return rule()(acts)


for at, act in enumerate(ACTS):
    setattr(SyncMachine, f"{act.__name__}_{at}", _rule(act, f"{act.__name__}_{at}"))

# A run that fails is told by its seed and its acts; to make it shorter takes longer than the whole campaign.
SyncMachine.TestCase.settings = settings(
    max_examples=count(150, 20_000),
    stateful_step_count=STEPS,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
    deadline=None,
    print_blob=True,
)
TestSync = SyncMachine.TestCase
