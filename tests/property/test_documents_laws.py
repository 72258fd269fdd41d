"""Laws of document edits: changes have exactly their effect, and all else stays unchanged."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from reverie.documents.edit import apply_changes, new_document
from reverie.documents.escape import clean, one_line, tag
from reverie.documents.header import refresh_header
from reverie.documents.items import Add, Change, ChangedDocument, Delete, Item, Update, Wording
from reverie.documents.parse import header_texts, parse_document, parse_source, summary_of
from reverie.documents.summary import WORDS_MAX
from reverie.errors import ValidationError
from reverie.markdown_blocks import BlockKind, parse
from support.soak import count

DAY = "2026-11-21"
FACTS, EPISODES, WHOLE = "facts/user.md", "episodes/2026-11.md", "deploys.md"
FRONT = "---\nname: deploys\nmetadata:\n  type: project\n---\n"

LINES = st.sampled_from(
    """- Name: Ada|* two #tag|+ three|- |  goes on|    code|\tcode|## Part|### Deeper|# Title|> Summary: old|> quote|b
word  |---|```|~~~~|<!-- open|-->|<div>|<pre>|</pre>|- Updated: 2026-01-02|- Summary: told|- Date: 2026-11-05|- Date:
1. one| - one in|   - three in|||[link](x.md)|## Told #tag|- ---|* * *|- \\#x|\u3000|a\u2028b|name: x|## Ä #""".replace(
        "\n", "|"
    ).split("|")
)
ENDINGS = st.sampled_from(["\n", "\r\n", "\r"])
HEADS = st.sampled_from(["", "", "\ufeff", "---\nk: v\n---\n", "# User Facts\n\n> Summary: s\n\n"])
texts = st.builds(
    lambda head, lines, end: head + "\n".join(lines) + end,
    HEADS,
    st.lists(LINES, max_size=14),
    st.sampled_from(["", "\n", "\n\n"]),
)


@st.composite
def documents(draw: st.DrawFn) -> str:
    """Strategy: a text with one kind of line ending, or with both kinds mixed."""
    text: str = draw(texts)
    ending: str = draw(ENDINGS)
    mixed = ending == "\r\n" and draw(st.booleans())
    lines = text.split("\n")
    return (
        "".join(line + ("\n" if mixed and number % 3 == 1 else ending) for number, line in enumerate(lines[:-1]))
        + lines[-1]
    )


snippets = st.lists(LINES, max_size=4).map("\n".join) | st.text(alphabet="ab#- \n\t`>*+1.:|<\\éß\u3042", max_size=30)
contents = (snippets | st.text(max_size=30)).filter(lambda text: bool(clean(text)))
tags = st.lists(st.sampled_from(["tests", "C/C++", "café", "42", "a b", "हिन्दी", "x" * 80]), max_size=2).map(tuple)
fields = st.lists(st.tuples(st.sampled_from(["Summary", "Date", "Lesson", "a:b"]), contents), max_size=3).map(tuple)
facts = st.builds(Wording, contents, tags)
episodes = st.builds(Wording, contents, tags, st.none() | contents, fields, st.none() | st.just("2026-11-03"))


@st.composite
def plans(draw: st.DrawFn, words: st.SearchStrategy[Wording], size: int, *, adds: bool = True) -> list[Change]:
    """Strategy: changes of some of the items `id0`…, and additions of new ones, in any order."""
    chosen = draw(st.lists(st.integers(0, max(0, size - 1)), max_size=3, unique=True)) if size else []
    plan: list[Change] = [Delete(f"id{at}") if draw(st.booleans()) else Update(f"id{at}", draw(words)) for at in chosen]
    if adds:
        plan += [Add(f"new{number}", told) for number, told in enumerate(draw(st.lists(words, max_size=2)))]
    return draw(st.permutations(plan))


def written(words: Wording) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for word in map(tag, words.tags) if word))


def says(item: Item, words: Wording) -> bool:
    """Return True if an item has these words: tags and text of a fact; title, tags and all words of an episode."""
    if tuple(dict.fromkeys(item.tags)) != written(words):
        return False
    if item.type.value != "episode":
        return clean(item.content) == clean(words.content)
    told = Counter(re.findall(r"\w+", f"{item.title}\n{item.content}"))
    wanted = [words.content, *(value for _, value in words.fields)]
    titled = not one_line(words.title or "") or item.title == one_line(words.title or "")
    return titled and all(set(re.findall(r"\w+", clean(text))) <= told.keys() for text in wanted)


def check_said(path: str, text: str, plan: list[Change], after: ChangedDocument) -> None:
    """Assert that unchanged items keep their content and order, and that the others have the plan's words.

    The fields of an update are those that its episode had: nothing of them has to stay.
    """
    before = {f"id{at}": item for at, item in enumerate(parse_document(path, text).items)}
    gone = {change.id for change in plan if isinstance(change, Delete)}
    wanted = {change.id: change.words for change in plan if isinstance(change, Add)}
    wanted |= {change.id: replace(change.words, fields=()) for change in plan if isinstance(change, Update)}
    now = dict(zip(after.ids, parse_document(path, after.text or "").items, strict=True))
    moved = wanted.keys() if "<" in text else set()  # words that close what stood open go before it
    stay = [name for name in before if name not in gone and name not in moved]
    assert [name for name in after.ids if name in before and name not in moved] == stay
    assert set(after.ids) == before.keys() - gone | wanted.keys()
    for name, item in now.items():
        if name in wanted:
            assert says(item, wanted[name]), (name, item, wanted[name])
        else:
            old = before[name]
            assert item.text.rstrip("\r\n") == old.text.rstrip("\r\n")
            assert (item.content, item.tags, item.title, item.fields) == (old.content, old.tags, old.title, old.fields)


def own_lines(path: str, text: str, changing: set[str], ids: tuple[str, ...]) -> list[str]:
    """Return the lines, with their endings, of everything but changed items, summary and Updated line."""
    data = text.encode()
    spans = [
        (item.start, item.end)
        for name, item in zip(ids, parse_document(path, text).items, strict=True)
        if name in changing
    ]
    spans += [
        (block.start, block.end)
        for block in parse(data, sections=path == EPISODES)
        if block.kind is BlockKind.SUMMARY or re.fullmatch(r"Updated: *\d{4}-\d\d-\d\d", block.text)
    ]
    for start, end in sorted(spans, reverse=True):
        data = data[:start] + data[end:]
    return re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z", data.decode().removeprefix("\ufeff"))


def check_rest(path: str, text: str, plan: list[Change], after: ChangedDocument) -> None:
    """Assert that every other line stays; only empty lines and comments may be added."""
    assert after.text is not None
    changing = {change.id for change in plan}
    size = len(parse_document(path, text).items)
    old = own_lines(path, text, changing, tuple(f"id{at}" for at in range(size)))
    new = own_lines(path, after.text, changing, after.ids)
    rest = iter(new)
    for number, line in enumerate(old):
        unended = number + 1 == len(old) and not line.endswith(("\r", "\n"))  # it may have got an ending
        assert any(line == (other.rstrip("\r\n") if unended else other) for other in rest), (line, old, new)
    extra = Counter(line.rstrip("\r\n") for line in new) - Counter(line.rstrip("\r\n") for line in old)
    assert set(extra) <= {"", "<!-- -->"}


def check(path: str, text: str, plan: list[Change]) -> None:
    size = len(parse_document(path, text).items)
    ids = [f"id{at}" for at in range(size)]
    is_open = (
        path == EPISODES
        and not size
        and not all(parse_document(path, f"{text}\n\n## {probe}\n").items for probe in ("Probe", "-->", "</pre>"))
    )
    try:
        after = apply_changes(path, text, ids, plan, day=DAY)
    except ValidationError as refused:
        if is_open and refused.details["reason"] == "breaks_out":
            event("refused: something is open to the end, and would be in any section")
            return
        raise
    if after.text is None:
        assert not after.ids
        event("the document goes")
        return
    check_said(path, text, plan, after)
    event(f"{path}: {len(plan)} changes")
    if text.strip("\ufeff \t\r\n"):
        check_rest(path, text, plan, after)


@settings(max_examples=count(150, 50_000), deadline=None)
@given(st.data(), documents())
def test_changes_of_facts_say_exactly_what_they_mean(data: st.DataObject, text: str) -> None:
    """Changes of facts work in any file: open fences, comments, odd spacing, front matter, any line ending."""
    size = len(parse_document(FACTS, text).items)
    check(FACTS, text, data.draw(plans(facts, size)))


@settings(max_examples=count(100, 50_000), deadline=None)
@given(st.data(), documents())
def test_changes_of_episodes_say_exactly_what_they_mean(data: st.DataObject, text: str) -> None:
    """A changed section has all its words, and its neighbours keep theirs."""
    size = len(parse_document(EPISODES, text).items)
    check(EPISODES, text, data.draw(plans(episodes, size)))


@settings(max_examples=count(100, 5000), deadline=None)
@given(documents(), facts, ENDINGS)
def test_a_file_that_is_one_memory_keeps_its_front_matter(text: str, words: Wording, ending: str) -> None:
    """A changed file keeps its front matter, line endings and surrounding empty lines."""
    whole = FRONT.replace("\n", ending) + text
    (old,) = parse_document(WHOLE, whole).items
    after = apply_changes(WHOLE, whole, ["id0"], [Update("id0", words)], day=DAY)
    assert after.text is not None
    assert after.text.startswith(FRONT.replace("\n", ending))
    (item,) = parse_document(WHOLE, after.text).items
    assert item.content == clean(words.content)
    assert (item.title, item.type) == (old.title, old.type)
    assert apply_changes(WHOLE, whole, ["id0"], [Delete("id0")], day=DAY) == ChangedDocument(None, ())


@settings(max_examples=count(80, 10_000), deadline=None)
@given(st.lists(facts, min_size=1, max_size=4), st.lists(episodes, min_size=1, max_size=4))
def test_a_new_document_says_what_it_was_made_from(told: list[Wording], tales: list[Wording]) -> None:
    """A new document has one item for each memory, a title and a short summary; a refresh changes nothing."""
    for path, given_ in ((FACTS, told), (EPISODES, tales)):
        made = new_document(path, [(f"new{number}", words) for number, words in enumerate(given_)], day=DAY)
        assert made.text is not None
        check_said(path, "", [Add(f"new{number}", words) for number, words in enumerate(given_)], made)
        assert 0 < len(parse_document(path, made.text).summary.split()) <= WORDS_MAX
        assert refresh_header(path, made.text, day=DAY) == made.text


@settings(max_examples=count(100, 20_000), deadline=None)
@given(st.sampled_from([FACTS, EPISODES, WHOLE, "notes.md"]), documents(), st.none() | contents)
def test_refreshing_twice_changes_nothing(path: str, text: str, summary: str | None) -> None:
    """A refresh is idempotent, keeps the items, and gives at most ten words or topics."""
    once = refresh_header(path, text, day=DAY, summary=summary)
    before, after = parse_document(path, text), parse_document(path, once)
    assert [item.content for item in after.items] == [item.content for item in before.items]
    assert len(after.summary.split(",")) <= WORDS_MAX
    assert len(after.summary.split()) <= WORDS_MAX * 4
    assert refresh_header(path, once, day=DAY, summary=summary) == once
    check_rest(path, text, [], ChangedDocument(once, tuple(f"id{at}" for at in range(len(before.items)))))


@settings(max_examples=count(100, 5000), deadline=None)
@given(st.data(), documents())
def test_what_is_said_already_changes_nothing(data: st.DataObject, text: str) -> None:
    """An update of items to their own words, and a plan without changes, leave every byte as it is."""
    path = data.draw(st.sampled_from([FACTS, EPISODES]))
    items = parse_document(path, text).items
    assume(items)
    same = [
        Update(f"id{at}", Wording(item.content, item.tags, item.title, item.fields)) for at, item in enumerate(items)
    ]
    ids = tuple(f"id{at}" for at in range(len(items)))
    for plan in ([], [each for each in same if clean(each.words.content) or each.words.title]):
        assert apply_changes(path, text, ids, plan, day=DAY) == ChangedDocument(text, ids)


@given(path=st.sampled_from([FACTS, EPISODES]), before=documents(), after=documents(), cut=st.integers(0, 400))
@settings(max_examples=count(300, 20_000))
def test_a_text_parses_alike_beside_an_earlier_one(path: str, before: str, after: str, cut: int) -> None:
    """A text parses alike at a path that was parsed with another text before and at a path that was not."""
    texts = [before, before[:cut] + after + before[cut:], before[:cut] + before[cut + 5 :], before]
    for number, text in enumerate(texts):
        found = parse_source(path, text)
        alone = parse_source(path.replace(".md", f"-{number}x{hash(text) % 1000}.md"), text)
        assert (found.blocks, found.data) == (alone.blocks, alone.data)
        assert found.document == alone.document
        assert header_texts(found) == header_texts(alone)
        assert summary_of(found) == summary_of(alone)
