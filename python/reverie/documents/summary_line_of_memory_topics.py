"""The summary of a document in at most ten words: the `> Summary:` line by which agents choose a document."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Protocol, TypeAlias

from reverie.documents.escaping import one_line
from reverie.lazy_regex import lazy_regex
from reverie.models import MemoryType
from reverie.sentence_word_analysis import is_stop_word, label_of, opening_phrase, strip_markers
from reverie.text_caches import text_cache

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = [
    "WORDS_MAX",
    "SummaryInput",
    "Topics",
    "at_most",
    "shortened",
    "summary_line",
    "summary_of_topics",
    "topics_of",
]

WORDS_MAX = 10  # words of a summary line, as seed 004 section 3 has it
_TITLE_WORDS = 6  # of an episode's title, taken as its topic
_WHOLE_WORDS = 4  # of a text that was cut; fewer rarely say what it is about
_ARTICLES = frozenset({"a", "an", "the"})
# Words that begin a part which a summary can do without, in English, German, French and Spanish.
_CONJUNCTIONS = lazy_regex(
    "after|although|and|because|before|but|if|instead|or|since|so|that|then|unless|until|when|where|which|while"
    "|damit|oder|und|weil|wenn|et|mais|ou|parce|pour|o|pero|porque|y",
    re.IGNORECASE,
)
_PREPOSITIONS = lazy_regex(
    "as|at|by|during|for|from|in|into|of|on|over|per|through|to|under|using|via|with|within|without"
    "|aus|bei|durch|für|im|mit|nach|von|zu|avec|dans|de|depuis|par|sans|con|desde|en|para|por|sin",
    re.IGNORECASE,
)
_KEY_WORDS_MAX = 3  # of a `Key: value` line; what is longer is a sentence with a colon
_PHRASE_WORDS = 5  # of a fact without key and tags
_TOPICS_BYTES = 2_000_000  # of the topics of some thousand memories
_MARKS = lazy_regex(r"\*\*")
# Labels that say what kind of line it is, and not what it is about: "The user wants: short answers".
_KIND_LABEL = lazy_regex(r"\s*(?:the user\b[^:\n]{0,20}|decision|note|rule|lesson|fact)\s*:\s*", re.IGNORECASE)
# How preferences begin: "Wants agents to always run the linter" is about "run the linter".
_FRAME = lazy_regex(
    r"\s*(?:wants agents (?:to always |to |(?=never ))|prefers (?:to |using )?|dislikes )", re.IGNORECASE
)
# How a wish or a statement about oneself begins: "Ab jetzt sollst du …" and "I'm a …" do not say what is wanted or who
# it is. English, German, Spanish and French; what denies ("never", "nie") stays. Apostrophes are straight here.
_QUOTED_FRAME = lazy_regex(
    r"[\"'“”„«»\s]*(?:"
    r"from now on|from here on|going forward|as a (?:general )?rule|in general|by default|in this (?:repo\w*|project)"
    r"|please|always|remember(?: that)?|note that|make sure (?:that |to )?(?:you )?|be sure to"
    r"|i(?:'m| am)(?: an?| the)?|my name is"
    r"|i(?:'d| would)? (?:rather|like|want|need|expect|prefer)(?: (?:you|agents|it if you))?(?: to)?"
    r"|(?:i )?(?:think|guess|believe)(?: that)?|(?:we|you) (?:should|must|need to|have to)|let's"
    r"|it(?:'?s| is) (?:better|best|important)(?: that| to|(?= not ))?"
    r"|ab jetzt|ab sofort|von nun an|künftig|in zukunft|von jetzt an|grundsätzlich|bitte|immer"
    r"|(?:du )?(?:sollst|solltest|musst)(?: du)?|ich (?:möchte|will|wünsche mir|hätte gerne?),?(?: dass)?(?: du)?"
    r"|(?:wir haben (?:entschieden|beschlossen|vereinbart)|denke? daran|achte darauf),? dass|ich bin(?: eine?)?"
    r"|a partir de ahora|de ahora en adelante|por lo general|por favor|siempre"
    r"|(?:quiero|prefiero|me gustaría|recuerda|hay)(?: que)?|debes|tienes que|soy(?: una?)?"
    r"|à partir de maintenant|désormais|dorénavant|en général|s'il (?:te|vous) plaît|toujours"
    r"|(?:je (?:veux|voudrais|préfère|souhaite)|j'aimerais|il faut|tu dois)(?: que)?(?: tu)?"
    r"|n'oublie pas(?: que| de)?|je suis(?: une?)?"
    r")[,:]?\s+(?=\S)",
    re.IGNORECASE,
)
_CURLY_APOSTROPHE = "\u2019"
# What a wish holds for: "Before every commit, run `just lint`" is about "run just lint".
_OCCASION = lazy_regex(
    r"[\"'“„«\s]*(?:when(?:ever)?|every time|if|before|after|for|to|given|since|because|in|on"
    r"|wenn|falls|bevor|nachdem|sobald|vor|nach|bei|da|weil|cuando|si|antes de|después de|para|como"
    r"|quand|lorsque|avant|après|pour|comme|dès) [^,:”]{3,80}, (?=\w)",
    re.IGNORECASE,
)
_FRAMES_MAX = 4  # at the beginning of one wish: "From now on, please make sure that you always …"
_KIND_TAGS = frozenset(
    {"decision", "fact", "mistake", "note", "observation", "preference", "procedure", "rule", "skill"}
)


Topics: TypeAlias = tuple[tuple[str, str], ...]
"""The topics of one memory, each folded to one case and as it is written."""


class SummaryInput(Protocol):
    """The input of a summary: a parsed item, or a stored memory."""

    @property
    def type(self) -> MemoryType:
        """The type of memory."""

    @property
    def content(self) -> str:
        """The text of the memory."""

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags of the memory, without `#`."""

    @property
    def title(self) -> str | None:
        """The heading of an episode, or None."""


def summary_line(memories: Sequence[SummaryInput]) -> str:
    """Return the topics of the memories, most frequent first, joined by commas; at most ten words.

    Of equally frequent ones the newest are chosen where not all have room, so that the line changes as a document
    grows. Example: two facts with the key "Editor" and one tagged #ci give "editor, ci".
    """
    return summary_of_topics([topics_of(memory) for memory in memories])


def topics_of(memory: SummaryInput) -> Topics:
    """Return the topics of one memory, each as a pair of its case-folded form and its spelling."""
    return _topics(memory.content, memory.type, memory.tags, memory.title)


def summary_of_topics(topics: Sequence[Topics]) -> str:
    """Return the summary line of memories with these topics, as `summary_line`."""
    counts: dict[str, int] = {}
    newest: dict[str, int] = {}
    spelled: dict[str, str] = {}
    for at, of_one in enumerate(topics):
        for folded, topic in of_one:
            counts[folded] = counts.get(folded, 0) + 1
            newest[folded] = at
            spelled.setdefault(folded, topic)
    # Equal ones stay in order of appearance where all have room; else new memories are appended behind older ones.
    are_all_shown = sum(len(topic.split()) for topic in spelled.values()) <= WORDS_MAX
    chosen: list[str] = []
    words = 0
    for folded in sorted(
        counts, key=lambda folded: (counts[folded], 0 if are_all_shown else newest[folded]), reverse=True
    ):
        topic = spelled[folded]
        size = len(topic.split())
        if words + size <= WORDS_MAX:
            chosen.append(topic)
            words += size
            if words == WORDS_MAX:
                break
    return ", ".join(chosen) or "general"


def shortened(text: str) -> str:
    """Return a text in at most ten words, on one line.

    Of a longer one the articles are left out. One that is still too long ends in front of a part that it can do
    without: "Draw the map of all ships, sort their names and count the crews twice" becomes "Draw the map of all ships,
    sort their names". Where no such part begins, the tenth word has an ellipsis.
    """
    words = one_line(text).split()
    if len(words) <= WORDS_MAX:
        return " ".join(words)
    plain = [word for word in words if word.lower() not in _ARTICLES]
    if _WHOLE_WORDS <= len(plain) <= WORDS_MAX:
        return " ".join(plain)
    for ends in (_ends_with_clause, _ends_with_phrase):
        cuts = [kept[:count] for kept in (words, plain) if (count := _last_end(kept, ends))]
        if cuts:
            most = max(cuts, key=lambda cut: sum(word.lower() not in _ARTICLES for word in cut))
            return _without_open_bracket(" ".join(most)).rstrip(",;:")
    return " ".join(words[:WORDS_MAX]).rstrip(",;:") + "…"


def _last_end(words: Sequence[str], ends: Callable[[Sequence[str], int], bool]) -> int:
    """Return how many of the first ten words are up to the last place where `ends` is True; 0 where it nowhere is."""
    counts = range(min(WORDS_MAX, len(words) - 1), _WHOLE_WORDS - 1, -1)
    return next((count for count in counts if ends(words, count)), 0)


def _without_open_bracket(text: str) -> str:
    """Return a text cut before a bracket that is not closed: "Sync of files" of "Sync of files (PR 17"."""
    before, bracket, behind = text.rpartition("(")
    return before.rstrip() if bracket and before.strip() and ")" not in behind else text


def _ends_with_clause(words: Sequence[str], count: int) -> bool:
    """Return True if a clause ends after the first `count` words: at a comma, or before "and" or "because"."""
    return words[count - 1].endswith((",", ";", ":", ".")) or _CONJUNCTIONS.fullmatch(words[count]) is not None


def _ends_with_phrase(words: Sequence[str], count: int) -> bool:
    """Return True if the first `count` words are a whole phrase: a preposition follows them and none ends them."""
    last, following = words[count - 1], words[count]
    is_open = _PREPOSITIONS.fullmatch(last) or _CONJUNCTIONS.fullmatch(last)
    return _PREPOSITIONS.fullmatch(following) is not None and not is_open


def at_most(text: str) -> str:
    """Return a summary on one line: unchanged if it has at most ten words or ten topics, else its first ten words."""
    line = one_line(text)
    topics = [topic.split() for topic in line.split(",")]
    is_short = len(topics) <= WORDS_MAX and all(len(topic) <= _TITLE_WORDS for topic in topics)
    return line if is_short else shortened(line)


@text_cache(bytes_max=_TOPICS_BYTES, entry_bytes=500, char_bytes=2)
def _topics(content: str, kind: MemoryType, tags: tuple[str, ...], title: str | None) -> Topics:
    """Return the topics of one memory, each as a pair of its case-folded form and its spelling.

    Those of the last memories are kept: a write of one memory counts the topics of its whole document again.
    """
    return tuple((topic.casefold(), topic) for topic in _written_topics(kind, content, tags, title))


def _written_topics(kind: MemoryType, content: str, tags: tuple[str, ...], title: str | None) -> tuple[str, ...]:
    """Return the topics of one memory: an episode's title, a fact's key, else its tags, else its first words."""
    if kind is MemoryType.EPISODE and title:
        words = opening_phrase(title, _TITLE_WORDS) or tuple(title.replace(",", " ").split()[:_TITLE_WORDS])
        return (_lower_case_name(words),) if words else ()
    whole = content = _KIND_LABEL.sub("", _MARKS.sub("", strip_markers(content)), count=1)
    if kind is MemoryType.PREFERENCE and (frame := _FRAME.match(content)):
        content = content[frame.end() :]
    content = _without_frames(content, kind)
    key = label_of(content)
    if key is not None:
        words = tuple(key.replace("`", "").replace(",", " ").split())
        if 0 < len(words) <= _KEY_WORDS_MAX:
            return (_lower_case_name(words),)
    about = [tag.replace("-", " ") for tag in tags if tag not in _KIND_TAGS]
    if about:
        return tuple(about[:2])
    words = opening_phrase(content, _PHRASE_WORDS)
    # A capital behind other words is that of a name: "Prefers British English".
    if words and whole.lstrip("\"'“`(").startswith(words[0]):
        words = (_lower_first(words[0]), *words[1:])
    return (" ".join(words),) if words else ()


def _without_frames(content: str, kind: MemoryType) -> str:
    """Return a wish without opening words ("from now on you should"); a preference also without its occasion.

    Example: "Ab jetzt sollst du vor jedem Commit `pnpm lint` laufen lassen" gives "vor jedem Commit …".
    """
    for _ in range(_FRAMES_MAX):
        frame = _QUOTED_FRAME.match(content.replace(_CURLY_APOSTROPHE, "'"))
        if frame is None and kind is MemoryType.PREFERENCE:
            frame = _OCCASION.match(content)
        if frame is None:
            break
        content = content[frame.end() :]
    return content


def _lower_case_name(words: Sequence[str]) -> str:
    """Return a key or title in lower case, except for words whose capitals mean something: `loadState`, `CI`.

    If not all words begin with a capital, the capitals inside are names, and only the first word's is dropped.
    """
    first, *rest = words
    if any(word[:1].islower() and not is_stop_word(word) for word in rest):
        return " ".join((_lower_first(first), *rest))
    return " ".join(map(_lower_first, words))


def _lower_first(word: str) -> str:
    """Return a word in lower case if only its first letter is a capital."""
    return word.lower() if word[1:].islower() or len(word) == 1 else word
