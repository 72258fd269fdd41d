"""Denials that new words of a memory drop or turn round: "Use pnpm, not npm" becomes "Use npm, not pnpm".

A text is read clause by clause, in the six languages with tables of cues: each clause affirms its words or denies them
("never push to main", "nicht npm", "不要用 npm", "npm ではなく"). New words reverse old ones where a denied clause is
denied no more, or an affirmed one is denied. The reading is coarse, and wrong readings only make an update wait.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Final, NamedTuple

from reverie.consolidate.statement_words import stems_in_order
from reverie.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["Reversal", "is_supported", "is_wish_or_choice", "reversals"]

# Sentences, with the mark that ends them: what is asked affirms nothing.
_SENTENCE: Final = lazy_regex(r"[^.;!?\n。；！？]*(?:\.(?!\s|$)[^.;!?\n。；！？]*)*[.;!?\n。；！？]*")  # noqa: RUF001
_WIDE: Final = "\u3040-\u30ff\u3400-\u9fff"
_MIXED: Final = lazy_regex(rf"(?<=[a-z0-9])(?=[{_WIDE}])|(?<=[{_WIDE}])(?=[a-z0-9])")

# Where a clause begins, by how what stands behind it is read:
# `denied` and `rejected` begin a denied clause; what was rejected for something else is told apart;
_DENIED: Final = r"\b(?:without|except(?: for)?|ohne|außer|sin|salvo|sans|sauf)\b|除了"
_REJECTED: Final = (
    r"\b(?:instead of|rather than|in place of|statt(?: des| der| dem)?|anstatt|anstelle von|en vez de|en lugar de"
    r"|au lieu de|plutôt que)\b|而不是|而非"
)
# `before` makes the clause before it a rejected one: Japanese says "not npm but pnpm" in this order;
_BEFORE: Final = r"(?:ではなく|じゃなく|でなく)て?|の代わりに"
# `reset` begins an affirmed clause again; `or` goes on as before; behind `and` and a comma a denial may go on or not;
_RESET: Final = r"\b(?:but|sondern|aber|sino|pero|mais)\b|[:()（）]|\s[-–—]+\s|但是?"  # noqa: RUF001
_OR: Final = r"\b(?:or|nor|oder|noch|ni|ou|o)\b|或者?|または"
_AND: Final = r"[,，、]|\b(?:and|und|et|y)\b|并且?|和"
# `aside` is a condition or reason, of which nobody says that it is so.
_ASIDE: Final = (
    r"\b(?:because|since|if|when|unless|before|after|until|while|weil|wenn|falls|bevor|nachdem|bis|porque|si|cuando"
    r"|antes de|después de|hasta|parce qu\w*|car|quand|lorsqu\w*|avant|après|jusqu\w*)\b|因为|如果|直到"
)
_BOUNDARY: Final = lazy_regex(
    rf"(?P<denied>{_DENIED})|(?P<rejected>{_REJECTED})|(?P<before>{_BEFORE})|(?P<reset>{_RESET})|(?P<or>{_OR})"
    rf"|(?P<and>{_AND})|(?P<aside>{_ASIDE})"
)

# A clause with one of these denies what stands behind it; with two it still denies ("no hagas nunca", "nie … kein").
_NOT: Final = lazy_regex(
    r"\b(?:never|not|nor|no|none|cannot|no longer|nunca|jamás|tampoco|ningun\w*|ningún"
    r"|jamais|pas|rien|aucune?|guère)\b|\w+n't\b|\bn(?:e |')(?=[^,;]*\bplus\b)"
    r"|不要|不能|不可以?|不得|不准|不许|不是|不再|不用|不会|没有|不|别|勿|从不|决不|绝不"
)
# German and Japanese put it behind or between what is denied, so that the whole clause is.
_NOT_OF_ALL: Final = lazy_regex(
    r"\b(?:nicht|nie|niemals|kein\w*)\b|しない|ないで|ません|ない|(?:せ|わ|か|さ|た|な|ば|ま|ら)ず(?:に)?|てはいけ"
)
# Each of these turns a clause round, also one that is denied: "never skip the tests" wants tests.
_TURNS: Final = lazy_regex(
    r"\b(?:avoid(?:s|ed|ing)?|stop(?:s|ped|ping)?|skip(?:s|ped|ping)?|omit(?:s|ted|ting)?|refus\w+|forbid\w*|prohibit\w*"
    r"|disabl\w+|ban(?:s|ned)?|vermeide\w*|verbot\w*|verbiete\w*|überspring\w*|deaktivier\w*|evit(?:a|ar|en|es)"
    r"|prohib\w+|omit\w+|desactiv\w+|évite[rsz]?|interdi\w+|désactiv\w+)\b|避免|严禁|禁止|跳过|避け"
)
_PREFERS: Final = lazy_regex(r"\bprefer\w*\b")
_OVER: Final = lazy_regex(r"\bover\b")
_OPENS_REJECTED: Final = lazy_regex(r"\s*(?:not|never|nicht|no|pas|不是|不要用?|不用|别用)\s")
# Words of any clause in languages other than English (those of English are no stems), and words of leave and duty.
_SMALL_TEXT: Final = (
    "agent agents wants allowed permitted ok okay fine need needed necessary required must"
    " der die das den dem des ein eine einen einem einer und auf in im an am zu zum zur von vom mit für bei nach aus"
    " über um als wie es er sie wir du ihr man ist sind wird werden darf dürfen dürft soll sollen muss müssen immer"
    " bitte nur auch jede jeder jedes mehr erlaubt gestattet"
    " el la los las un una unos unas de del al en con por para que se lo le es son está siempre favor hay debe deben"
    " debes puede pueden puedes más permitido"
    " le les des du à au aux dans sur avec pour par ce cette est sont on nous tu vous il elle toujours doit doivent"
    " peut peuvent plus permis autorisé d l n s ne"
    # frames of wishes, which stand in a clause that is denied as a whole: "Will, dass Agenten keine Tests schreiben"
    " will möchte wünscht dass quiere prefiere veut souhaite"
)
_SMALL: Final = frozenset(stem for word in _SMALL_TEXT.split() for stem in (word, word[:5]))

# What only the person can take back: a wish, a duty, a ban or a choice between two things.
_WISH: Final = lazy_regex(
    r"\b(?:always|never|must|shall|should|wants?|prefers?|avoid|forbidden|prohibited|not (?:allowed|permitted)|may not"
    r"|dislikes)\b|(?:^|[,.;:]\s*|\b(?:and|but|please|agents|we|you)\s+)(?:do not|don't)\b"
)
_STATED: Final = lazy_regex(
    r"\b(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would) not\b|\bcannot\b|\bno\b|\bwithout\b"
    r"|\b(?:is|are|was|were|do|does|did|has|have|had|ca|could|wo|would)n't\b"
)
# Words for "use" have one stem, in any form: "usa npm" affirms what "no usen npm" denies, and "npm es lento" does not.
# The English one is none.
_USE: Final = lazy_regex(
    r"\b(?:us(?:a|as|an|ar|en|es|ad|amos|emos)|utili[sz]\w*|(?:verwend|benutz|benütz|nutz)(?:e|en|et|t|est|ete\w*)?)\b"
    r"|使用|(?<!\w)用(?=\s[a-z0-9])|(?:以后|今后|改)用(?=\s[a-z0-9])|[をは]?使[わいうえおっ]"
)
_USE_WORD: Final = " usage "
# Endings in which forms of one word differ in stems: "corran" and "corre", "pushen" and "push", "Tests" and "Test".
_FORM_ENDINGS: Final = frozenset({"", "a", "e", "o", "s", "t", "an", "as", "en", "er", "es", "ar", "et", "ez", "st"})
_FORM_PREFIX_MIN: Final = 3  # characters that forms of one word have in common; "car" and "cat" are two

# A change of what was so, told by who has made it; one that names what was left ("from Jira to Linear") may mean that.
_CHANGED: Final = lazy_regex(
    r"\b(?:moved|migrated|switched|relocated|transferred|umgezogen|umgestellt|verlegt|migriert|gewechselt"
    r"|(?:hemos |se ha |se han )?(?:movido|migrado|trasladado|cambiado)|movimos|migramos|trasladamos|cambiamos|pasamos"
    r"|(?:déplacé|migré|transféré|passé)e?s?)\b|迁移到|搬到|改到|换到|転到|に(?:移行|移動|変更|切り替え|移し)"
)
_LEFT_BEHIND: Final = lazy_regex(
    r"\b(?:from(?! now)|off|away|out|von|vom|aus|weg|de|del|desde|du|des|depuis)\b|从|から"
)
_STATED_STEMS_MIN: Final = 3  # of a plain statement whose verb a change may put otherwise: "issues", "tracked", "Jira"

_KEPT_MIN: Final = 0.5  # share of a denied clause's words that the new words must deny with it


@dataclass(frozen=True, slots=True)
class _Clause:
    """The stems of a clause that it affirms (True) or denies (False), or neither (None)."""

    stems: tuple[str, ...]
    affirms: bool | None
    rejected: bool = False  # for another one
    of_all: bool = False  # the denial is about the whole clause, whatever stands first
    denied_twice: bool = False  # "never skip the tests"


class Reversal(NamedTuple):
    """Stems that new words affirm, or deny, though the old ones did the opposite.

    `instead` are stems of what is wanted in the place of the denied ones: who wants these rejects the others.
    """

    stems: frozenset[str]
    affirmed: bool
    instead: frozenset[str] = frozenset()


def reversals(old: str, new: str) -> list[Reversal]:
    """Return how the new words of a memory drop or turn round what its old ones deny, or deny what they affirm."""
    before, after = _clauses(old), _clauses(new)
    affirmed, denied = _stems(after, affirms=True), [clause for clause in after if clause.affirms is False]
    reversals_of_text = []
    for clause in before:
        if clause.affirms is False and clause.stems:
            stems = frozenset(clause.stems)
            kept = _kept(clause, denied)
            whole = len(stems) > 1 and any(stems <= set(one.stems) for one in after if one.affirms)
            turned = stems & affirmed if whole else (stems & affirmed) - kept
            if turned:
                reversals_of_text.append(Reversal(turned, affirmed=True))
            elif len(kept) < _KEPT_MIN * len(stems):
                reversals_of_text.append(Reversal(stems - kept, affirmed=True))
        elif clause.denied_twice and clause.stems[0] not in affirmed | _stems(after, affirms=False):
            reversals_of_text.append(Reversal(frozenset(clause.stems), affirmed=False))
    was_affirmed, was_denied = _stems(before, affirms=True), _stems(before, affirms=False)
    for number, clause in enumerate(after):
        turned = frozenset(clause.stems) & was_affirmed - was_denied - affirmed
        if clause.affirms is False and turned:
            beside = [*reversed(after[:number]), *after[number + 1 :]] if clause.rejected else []
            wanted = next((frozenset(one.stems) - was_affirmed for one in beside if one.affirms), frozenset())
            reversals_of_text.append(Reversal(turned, affirmed=False, instead=wanted))
    return reversals_of_text


def is_supported(reversal: Reversal, texts: Iterable[str], *, given: str = "", is_plain: bool = False) -> bool:
    """Return True if a sentence of these texts says what a reversal says: affirms, or denies, all of its words.

    Each may have another form: "Schreib jetzt Tests" affirms what "keine Tests schreiben" denies. The words of `given`,
    the name of the project in whose session they were written, need not be said. With `is_plain`, for a statement that
    is no wish, a sentence that tells of a change may lack one: "We moved our issues to Jira" affirms that issues are
    tracked there.
    """
    named = frozenset(_stems_of(given.casefold()))
    for text in texts:
        for sentence in _sentences(text):
            clauses = list(_read(sentence))
            said = _stems(clauses, affirms=reversal.affirmed)
            unsaid = _unsaid(reversal.stems - named, said)
            if not unsaid:
                return True
            wanted = reversal.instead - named
            if wanted and not _unsaid(wanted, _stems(clauses, affirms=True)):
                return True
            is_stated = is_plain and reversal.affirmed and len(reversal.stems - named) >= _STATED_STEMS_MIN
            if is_stated and len(unsaid) == 1 and _CHANGED.search(sentence) and not _LEFT_BEHIND.search(sentence):
                return True
    return False


def is_wish_or_choice(text: str) -> bool:
    """Return True for a wish, a ban or a choice, which only the person takes back, and False for a plain statement.

    "The loader does not read CSV" is a statement: who works on the loader may find that it does now. Without a cue of
    English for a statement, a denial is a ban.
    """
    plain = _plain(text)
    denies = any(clause.affirms is False for clause in _clauses(text))
    rejects = any(clause.rejected for clause in _clauses(text))
    return rejects or _WISH.search(plain) is not None or (denies and _STATED.search(plain) is None)


def _kept(clause: _Clause, denied: Iterable[_Clause]) -> frozenset[str]:
    """Return the stems of a denied clause that one denied clause of the new words denies too.

    It must deny the same first: "agents never wait to push" does not deny what "agents never push" does.
    """
    kept: frozenset[str] = frozenset()
    for other in denied:
        is_same = clause.of_all or other.of_all or clause.stems[:1] == other.stems[:1]
        same = frozenset(clause.stems) & frozenset(other.stems) if is_same else frozenset[str]()
        kept = max(kept, same, key=len)
    return kept


def _unsaid(stems: Iterable[str], said: frozenset[str]) -> list[str]:
    """Return the stems of which `said` has no form at all: of "corran" it has one if "corre" is in it."""
    return [stem for stem in stems if stem not in said and not any(_is_same_word(stem, other) for other in said)]


def _is_same_word(one: str, other: str) -> bool:
    """Return True if two stems may be of forms of one word: they differ in endings at most."""
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
    return shared >= _FORM_PREFIX_MIN and one[shared:] in _FORM_ENDINGS and other[shared:] in _FORM_ENDINGS


def _stems(clauses: Iterable[_Clause], *, affirms: bool) -> frozenset[str]:
    return frozenset(stem for clause in clauses if clause.affirms is affirms for stem in clause.stems)


def _clauses(text: str) -> list[_Clause]:
    return [clause for sentence in _sentences(text) for clause in _read(sentence)]


def _plain(text: str) -> str:
    return text.casefold().replace("\u2019", "'")


def _sentences(text: str) -> list[str]:
    return [sentence for sentence in _SENTENCE.findall(_plain(text)) if sentence.strip()]


def _read(sentence: str) -> Iterator[_Clause]:
    """Yield the clauses of a sentence."""
    is_asked = sentence.rstrip().endswith(("?", "\uff1f"))
    begins, at = "reset", 0
    affirms: bool | None = True
    for boundary in [*_BOUNDARY.finditer(sentence), None]:
        part = sentence[at : len(sentence) if boundary is None else boundary.start()]
        ends = "" if boundary is None else str(boundary.lastgroup)
        for clause in _of_part(part, begins, ends, after=affirms):
            affirms = clause.affirms
            yield _Clause(clause.stems, None) if is_asked else clause
        if boundary is not None:
            begins, at = ends, boundary.end()


def _of_part(part: str, begins: str, ends: str, *, after: bool | None) -> Iterator[_Clause]:
    """Yield what one part of a sentence affirms or denies; `after` is how the clause before it was read."""
    denial, of_all = _NOT.search(part), _NOT_OF_ALL.search(part)
    turned = len(_TURNS.findall(part)) % 2 == 1
    bare = _TURNS.sub(" ", part)
    if begins in {"denied", "rejected"} or ends == "before":
        yield _Clause(_stems_of(_NOT.sub(" ", bare)), affirms=turned, rejected="denied" not in {begins, ends})
    elif _PREFERS.search(part) and (over := _OVER.search(bare)):
        yield _Clause(_stems_of(bare[: over.start()]), affirms=denial is None)
        yield _Clause(_stems_of(bare[over.end() :]), affirms=denial is not None, rejected=True)
    elif of_all is not None or denial is not None:
        if of_all is not None:
            behind = _NOT_OF_ALL.sub(" ", bare)
        else:
            cut = _NOT.search(bare)
            assert cut is not None
            behind = _NOT.sub(" ", bare[cut.end() :])
        stems = _stems_of(behind)
        is_rejected = begins == "and" and bool(after) and _OPENS_REJECTED.match(part) is not None
        # "Pushes to main: never", "pushes are not allowed": nothing of meaning stands behind it.
        yield _Clause(
            stems or _stems_of(_NOT.sub(" ", bare)),
            affirms=turned,
            rejected=is_rejected,
            of_all=of_all is not None or not stems,
            denied_twice=turned and bool(stems),
        )
    elif turned:
        yield _Clause(_stems_of(bare), affirms=False, of_all=True)
    elif begins == "aside":
        yield _Clause(_stems_of(part), affirms=None)
    elif begins == "or":
        yield _Clause(_stems_of(part), affirms=after)
    elif begins == "and" and after is not True:
        # "Never push to main, stable or beta" goes on, "don't use npm, use pnpm" does not: it cannot be told.
        yield _Clause(_stems_of(part), affirms=None)
    else:
        yield _Clause(_stems_of(part), affirms=True)


def _stems_of(text: str) -> tuple[str, ...]:
    """Return the stems of words that mean something; Latin names in Chinese and Japanese are words of their own."""
    return tuple(stem for stem in stems_in_order(_USE.sub(_USE_WORD, _MIXED.sub(" ", text))) if stem not in _SMALL)
