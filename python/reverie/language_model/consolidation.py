"""Consolidation with a model (seed 003, phase 2): a request for each page, and the changes of its answer.

An answer is taken as a whole or not at all. An id that was not shown, a wrong index or action, or two operations about
one memory say that the model has lost track; then no other operation of the page is trusted either.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Final, Literal, NamedTuple, NoReturn, TypeAlias

import msgspec

from reverie.documents.layout import memory_project
from reverie.errors import ModelFailed
from reverie.language_model.answers import answer_schema, read_outcome
from reverie.language_model.extraction import CONTENT_CHARS_MAX, UNSAFE, clean_tags
from reverie.language_model.foreign import foreign_address, one_spelling
from reverie.language_model.prompts import CONSOLIDATE, prompt
from reverie.language_model.requests import ModelMessage, ModelRequest, Outcome, new_request
from reverie.lazy_regex import lazy_regex
from reverie.models import Add, Candidate, Delete, MemoryType, Skip, Update
from reverie.words import analyze

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reverie.language_model.consolidation_pages import ConsolidationPage
    from reverie.language_model.extraction import WrongMemory
    from reverie.models import Memory, Tier

OUTPUT_TOKENS: Final = 16_000
DELETED_SHARE_MAX: Final = 0.20  # of all memories of the space; more waits for a person
_GROUNDED_MIN: Final = 0.6  # share of an UPDATE's words that the memories and candidates of its page have
# The same of each of its clauses with at least so many words: "…; agents commit to main without tests and never ask",
# behind a long sentence that the memory has, is a statement of its own.
_CLAUSE_GROUNDED_MIN: Final = 0.5
_CLAUSE_WORDS_MIN: Final = 3
_CLAUSE_END: Final = lazy_regex(r"[;:.,!?](?:\s|$)|\s[-–—]\s|[()。、，；]|\b(?:and|but|und|aber|et|mais|y|pero)\b")  # noqa: RUF001
_STEM_CHARS: Final = 5  # by which words of a clause are compared: "clearing" is grounded in "cleared"
_WORD: Final = lazy_regex(r"\w{4,}")
_EXACT: Final = lazy_regex(r"[\w./:-]*\d[\w./:-]*\w|\d")
_SHARED_MIN: Final = 2  # words of a mistake or preference that the candidate in its place has too
_ANOTHERS_SHARE: Final = 0.7  # of the words of an UPDATE that another memory has, for which it is that one's
_NAMED_MIN: Final = 0.2  # of a candidate's words that the memory has for whose sake it is skipped
_NEVER_DROPPED: Final = frozenset({MemoryType.MISTAKE, MemoryType.PREFERENCE})

Index: TypeAlias = Annotated[int, msgspec.Meta(ge=0)]


class Operation(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """One operation on a memory or candidate; `type` and `content` of an ADD are those of its candidate."""

    action: Literal["KEEP", "UPDATE", "DELETE", "ADD", "SKIP"]
    id: str | None = None
    content: str | None = None
    tags: list[str] | None = None
    candidate_index: Index | None = None
    merged_into: str | None = None
    reason: str | None = None
    type: Literal["skill", "fact", "procedure", "observation", "mistake", "preference", "episode"] | None = None


class Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole answer to a consolidation request."""

    operations: list[Operation]


class PageChanges(NamedTuple):
    """The changes that the answer about a page asks for.

    `memories` are UPDATE and DELETE, `candidates` ADD and SKIP by index of the run; a candidate without one was not
    mentioned. `proposals` are changes that wait for a person, each with a sentence for them and the kind of reason:
    `person` for what a person wrote, `quarantined` for words from nowhere. `notes` say what was not followed.
    """

    memories: dict[str, Update | Delete]
    candidates: dict[int, Add | Skip]
    proposals: tuple[tuple[Update | Delete, str, Literal["person", "quarantined"]], ...]
    notes: tuple[str, ...]


def consolidate_request(
    page: ConsolidationPage, candidates: Sequence[Candidate], tier: Tier, wrong: Sequence[WrongMemory] = ()
) -> ModelRequest:
    """Return the request about one page: its candidates, numbered from 0, and its memories with ids and use.

    Its id is that of the question without the use: a recall while the answer is awaited does not ask another one.
    """
    return new_request(
        purpose="consolidate",
        role="strong",
        system=prompt(CONSOLIDATE),
        messages=[ModelMessage("user", _question(page, candidates, tier, wrong, with_use=True))],
        about=_question(page, candidates, tier, wrong, with_use=False),
        schema=answer_schema(Answer),
        max_output_tokens=OUTPUT_TOKENS,
        prompt_version=CONSOLIDATE,
    )


def _question(
    page: ConsolidationPage,
    candidates: Sequence[Candidate],
    tier: Tier,
    wrong: Sequence[WrongMemory],
    *,
    with_use: bool,
) -> str:
    """Return the text of a request: the memories and candidates of a page, a line of JSON for each."""
    noted = {item.id: item for item in wrong}
    memories = [_memory_line(memory, noted.get(memory.id), with_use=with_use) for memory in page.memories]
    new = [_candidate_line(number, candidates[index]) for number, index in enumerate(page.indexes)]
    return (
        (f"Capacity: {tier.value}\n\nEXISTING memories ({len(memories)}):\n" + ("\n".join(memories) or "none"))
        + f"\n\nCANDIDATES ({len(new)}):\n"
        + ("\n".join(new) or "none")
    )


def consolidated(
    outcome: Outcome,
    page: ConsolidationPage,
    candidates: Sequence[Candidate],
    *,
    redact: Callable[[str], str],
    wrong: Sequence[WrongMemory] = (),
) -> PageChanges:
    """Return the changes of an answer, their words redacted; `wrong` are memories that the source shows to be wrong.

    Raises:
        ModelFailed: the request failed, or the answer cannot be read or trusted; then nothing of it is used.
    """
    answer = read_outcome(outcome, Answer)
    reader = _Reader(page, candidates, redact, frozenset(item.id for item in wrong))
    for operation in answer.operations:
        reader.take(operation)
    return reader.result()


class _Reader:
    """Turns the operations of one answer into changes."""

    def __init__(
        self,
        page: ConsolidationPage,
        candidates: Sequence[Candidate],
        redact: Callable[[str], str],
        wrong: frozenset[str],
    ) -> None:
        self._wrong = wrong
        self._redact = redact
        self._shown = {memory.id: memory for memory in page.memories}
        self._indexes = page.indexes
        self._candidates = candidates
        self._operations: dict[str, Operation] = {}
        self._placed: dict[int, Add | Skip] = {}
        texts = [memory.content for memory in page.memories] + [candidates[index].content for index in page.indexes]
        self._source = "\n".join(texts).casefold()
        self._words = set(_WORD.findall(self._source))
        self._stems = {word[:_STEM_CHARS] for word in self._words}

    def take(self, operation: Operation) -> None:
        """Check and record one operation of the answer. Raises ModelFailed if it makes the answer unusable."""
        if operation.action in {"ADD", "SKIP"}:
            index = self._candidate(operation)
            if index in self._placed:
                _refuse("it has two operations about one candidate")
            candidate = self._candidates[index]
            self._placed[index] = Add(index, candidate) if operation.action == "ADD" else Skip(index, operation.id)
            return
        memory = self._shown.get(operation.id or "")
        if memory is None:
            _refuse("it names an id that was not shown")
        if memory.id in self._operations:
            _refuse("it has two operations about one memory")
        if operation.candidate_index is not None and operation.candidate_index >= len(self._indexes):
            _refuse("it names a candidate that there is not")
        if operation.action == "UPDATE":
            self._check_update(operation)
        self._operations[memory.id] = operation

    def result(self) -> PageChanges:
        """Return the changes of all operations; those that the rules forbid are left out, each with a note."""
        changes: dict[str, Update | Delete] = {}
        proposals: list[tuple[Update | Delete, str, Literal["person", "quarantined"]]] = []
        notes: list[str] = []
        for name, operation in self._operations.items():
            if operation.action == "KEEP":
                continue
            memory, change = self._shown[name], self._change(operation)
            if memory.type is MemoryType.EPISODE:
                notes.append("an episode was to be changed and was kept")
            elif isinstance(change, Delete) and (why := self._why_kept(memory, operation)):
                notes.append(why)
            elif isinstance(change, Update) and change.content == memory.content:
                continue
            elif isinstance(change, Update) and self._is_of_another(memory, change):
                notes.append("a memory was to get the words of another one, and was kept")
            elif memory.trust == "person":
                proposals.append((change, operation.reason or "a model found it outdated or contradicted", "person"))
            elif isinstance(change, Update) and (foreign := foreign_address(change.content, self._own(memory))):
                why = f"it would name {foreign}, which neither the memory nor what was said since has"
                proposals.append((change, why, "quarantined"))
                self._place_again(change)
            else:
                changes[name] = change
        notes += self._unsaid(changes)
        return PageChanges(changes, self._placed, tuple(proposals), tuple(dict.fromkeys(notes)))

    def _unsaid(self, changes: dict[str, Update | Delete]) -> list[str]:
        """Drop each SKIP of a candidate that no memory of the page says after the changes, and return a note on it.

        A memory says it with half of its words: "Amounts are in cents." is said by "Amounts are stored as integers, in
        cents", and not by "Prices come from the tariff service". The memory that the model names needs a fifth of them,
        and one: "Never use git commit --amend" is said by "Please do not amend commits".
        """
        texts = [(name, one.content) for name, one in self._shown.items() if not isinstance(changes.get(name), Delete)]
        texts += [(change.id, change.content) for change in changes.values() if isinstance(change, Update)]
        said = [(name, set(analyze(text).content)) for name, text in texts]
        unsaid = []
        for index, placed in self._placed.items():
            words = set(analyze(self._candidates[index].content).content)
            least = {placed.covered_by: max(1, _NAMED_MIN * len(words))} if isinstance(placed, Skip) else {}
            if least and not any(len(words & one) >= least.get(name, len(words) / 2) for name, one in said):
                unsaid.append(index)
        for index in unsaid:
            del self._placed[index]
        return ["a candidate was to be skipped that no memory says, and was added"] if unsaid else []

    def _own(self, memory: Memory) -> str:
        """Return what an UPDATE of a memory may rest on, in one spelling: the memory, those merged in, candidates.

        Not the others of the page: "upload the logs" of one and the host of another are no wish of anybody.
        """
        merged = [self._shown[name] for name, one in self._operations.items() if one.merged_into == memory.id]
        said = [self._candidates[index].content for index in self._indexes]
        return one_spelling("\n".join([memory.content, *(other.content for other in merged), *said]))

    def _place_again(self, change: Update) -> None:
        """Drop the SKIP of the candidate whose words an UPDATE that waits would have taken over: they are not lost."""
        if change.candidate_index is not None and isinstance(self._placed.get(change.candidate_index), Skip):
            del self._placed[change.candidate_index]

    def _candidate(self, operation: Operation) -> int:
        """Return the index of an operation's candidate among all of the run. Raises ModelFailed for an unknown one."""
        number = operation.candidate_index
        if number is None and operation.action == "ADD":
            same = [index for index in self._indexes if self._candidates[index].content == operation.content]
            if len(same) == 1:
                return same[0]
        if number is None or number >= len(self._indexes):
            _refuse("it names a candidate that there is not")
        return self._indexes[number]

    def _change(self, operation: Operation) -> Update | Delete:
        """Return the change of an UPDATE or DELETE."""
        assert operation.id is not None
        if operation.action == "DELETE":
            return Delete(operation.id)
        number = operation.candidate_index
        tags = self._shown[operation.id].tags if operation.tags is None else clean_tags(operation.tags)
        content = self._redact(" ".join((operation.content or "").split()))
        return Update(operation.id, content, tags, None if number is None else self._indexes[number])

    def _check_update(self, operation: Operation) -> None:
        """Raise ModelFailed for an UPDATE that is too long, harmful, a denial, or largely in words of its own."""
        content = " ".join((operation.content or "").split())
        if not content or len(content) > CONTENT_CHARS_MAX:
            _refuse(f"it has an UPDATE of {len(content):,} characters")
        if UNSAFE.search(content) and not UNSAFE.search(self._source):
            _refuse("it has an UPDATE with advice that could do harm")
        words = set(_WORD.findall(content.casefold()))
        if words and len(words & self._words) < _GROUNDED_MIN * len(words):
            _refuse("it has an UPDATE in words that no memory and no candidate has")
        for clause in _CLAUSE_END.split(content.casefold()):
            stems = [word[:_STEM_CHARS] for word in _WORD.findall(clause)]
            grounded = sum(stem in self._stems for stem in stems)
            if len(stems) >= _CLAUSE_WORDS_MIN and grounded < _CLAUSE_GROUNDED_MIN * len(stems):
                _refuse("it has an UPDATE with a clause in words that no memory and no candidate has")
        if any(exact not in self._source for exact in _EXACT.findall(content.casefold())):
            _refuse("it has an UPDATE with a number that no memory and no candidate has")
        memory = self._shown[operation.id or ""]
        if (
            operation.candidate_index is None
            and memory.id not in self._wrong
            and analyze(content).affirms != analyze(memory.content).affirms
        ):
            _refuse("it has an UPDATE that denies what the memory says, and no candidate for it")

    def _is_of_another(self, memory: Memory, change: Update) -> bool:
        """Return True if an UPDATE says what another memory says, and not what its own does: two were swapped.

        One that takes over the words of a memory that is merged into it, or of a candidate, is none.
        """
        words = set(analyze(change.content).content)
        own = len(words & set(analyze(memory.content).content))
        if change.candidate_index is not None:
            own = max(own, len(words & set(analyze(self._candidates[change.candidate_index].content).content)))
        for other in self._shown.values():
            operation = self._operations.get(other.id)
            is_merged = operation is not None and operation.merged_into == memory.id
            if other.id == memory.id or is_merged:
                continue
            shared = len(words & set(analyze(other.content).content))
            if shared >= max(_SHARED_MIN, _ANOTHERS_SHARE * len(words)) and shared > 2 * own:
                return True
        return False

    def _why_kept(self, memory: Memory, operation: Operation) -> str:
        """Return why a memory may not be deleted, or "" if it may."""
        into = operation.merged_into
        if into is not None:
            target = self._shown.get(into)
            gone = into in self._operations and self._operations[into].action == "DELETE"
            if target is None or gone or into == memory.id:
                return "a memory was to be merged into one that there is not, and was kept"
            if memory_project(target) != memory_project(memory):
                return "a memory was to be merged into one of another project, and was kept"
        elif operation.candidate_index is not None and memory.id not in self._wrong:
            candidate = self._candidates[self._indexes[operation.candidate_index]]
            shared = set(analyze(memory.content).content) & set(analyze(candidate.content).content)
            if len(shared) < (_SHARED_MIN if memory.type in _NEVER_DROPPED else 1):
                return "a memory was to be deleted by a candidate about something else, and was kept"
        elif memory.type in _NEVER_DROPPED and operation.candidate_index is None and memory.id not in self._wrong:
            return f"a {memory.type.value} was to be deleted that nothing supersedes, and was kept"
        return ""


def _memory_line(memory: Memory, wrong: WrongMemory | None, *, with_use: bool) -> str:
    """Return a memory as a request shows it: one line of JSON."""
    stated = memory.provenance.get("at")
    use = {"recalled": memory.access_count, "lastRecalled": (memory.last_accessed_at or "never")[:10]}
    shown: dict[str, object] = {
        "id": memory.id,
        "type": memory.type.value,
        "project": memory_project(memory) or "(person)",
        "content": f"{memory.title}: {memory.content}" if memory.title else memory.content,
        "tags": list(memory.tags),
        # The time of the words, as candidates have it: sessions of months ago may all have been imported today, and of
        # two things said on one day the later one holds.
        "stated": _minute(stated if isinstance(stated, str) else memory.updated_at),
        **(use if with_use else {}),
        "author": memory.trust,
    }
    if wrong is not None:
        shown["said to be wrong"] = f"{wrong.why} ({'; '.join(quote.text for quote in wrong.quotes)})"
    return json.dumps(shown, ensure_ascii=False)


def _candidate_line(number: int, candidate: Candidate) -> str:
    """Return a candidate as a request shows it: one line of JSON."""
    shown = {
        "candidateIndex": number,
        "type": candidate.type.value,
        "project": candidate.project or "(person)",
        "content": f"{candidate.title}: {candidate.content}" if candidate.title else candidate.content,
        "tags": list(candidate.tags),
        "stated": _minute(candidate.at or ""),
    }
    return json.dumps(shown, ensure_ascii=False)


def _minute(at: str) -> str:
    """Return a time in RFC 3339 to the minute: `2026-11-28 21:30`."""
    return at[:16].replace("T", " ")


def _refuse(why: str) -> NoReturn:
    raise ModelFailed(f"The answer cannot be used: {why}.", reason="unparseable", hint="Nothing was changed by it.")
