"""Talk that sets no rule for an agent: feelings, others' words, jokes, irony, games, what a person takes back.

And what does set one where people talk of everything: orders about answers, and about work.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from reverie.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reverie.distill.steps import Utterance

__all__ = [
    "ABOUT_WORK",
    "OF_FEELINGS",
    "TO_AGENT",
    "asks_for_text",
    "is_for_a_while",
    "is_ironic",
    "is_joke",
    "is_reported",
    "is_shown_by_program",
    "names_given_up",
    "sincere_messages",
    "takes_back",
]

OF_FEELINGS = lazy_regex(
    r"\b(?:hearts?|souls?|love|dreams?|smil\w+|herz\w*|seele|liebe|lieb hab\w*|mag dich|dich mag|vermisse?|corazón"
    r"|alma|amor|te quiero|te amo|te extraño|cœur"
    r"|coeur|âme|amour|t'aime|me manques)\b|[爱愛夢梦]|用心|支持你|朋友|笑顔|友達|好き",
    re.IGNORECASE,
)
"""What people speak of with each other: "answer with your heart" is no order to an agent."""
# Somebody else's words: "never talk with your mouth full, Grandma always said", "remember one thing, he told me: ...".
_TOLD = r"told me|sagte|meinte|schrieb|gesagt|geschrieben|m'a (?:dit|écrit)|dijo|decía|escribió"
_REPORTED = lazy_regex(
    rf",\s*(?:(?!I\b)[\w'-]+ ){{0,4}}(?:said|says|sagt|dit|disait|dice|dicho|{_TOLD})\b[^,:]{{0,20}}$"
    r"|^(?!I )(?:[\w'.-]+ ){1,5}(?:says?|said|writes?|wrote|reads?|states?|recommends?|sagt|schreibt|dice|dit)"
    r"(?: that)?:"
    rf"|,\s*(?:[\w'-]+ ){{0,4}}(?:{_TOLD})\b[^,:]{{0,20}}[,:]|m'a-t-(?:il|elle) (?:dit|écrit)"
    r"|\bas (?:the saying goes|they say|people say)\b|\bthe (?:old )?saying\b|^rule of thumb\b|\bwie man so sagt\b"
    r"|\bcomo dice el refrán\b|\bcomme on dit\b|常言道|俗话说"
    r"|(?<!我)[说説][。！]?$|と(?:言|い)っ",
    re.IGNORECASE,
)

TO_AGENT = lazy_regex(
    r"^(?:please )?(?:(?:always|never|don'?t|do not|stop) )*(?:ever )?(?:(?:answer|reply|respond|call me|address me"
    r"|format|translate|explain|speak|summari[sz]e|cite|keep (?:your|the|answers?|replies)|ask me|quote|remind me"
    r"|mention|recommend|warn me)\b"
    r"|(?:use|write|give me|show|include|avoid)\b(?=.*\b(?:answers?|repl(?:y|ies)|responses?|messages?|texts?"
    r"|sentences?|paragraphs?|words?|summar\w+|explanations?|examples?|sources?|links?|citations?|quot\w+|references?"
    r"|code|snippets?|tables?|lists?|bullets?|headings?|markdown|emojis?|formats?|units?|metric|celsius|fahrenheit"
    r"|kilomet\w+|dates?|numbers?|decimals?|currency|euros?|dollars?|steps?|english|german|french|spanish|italian"
    r"|portuguese|dutch|chinese|japanese|british|american|spelling|tone|jargon|style|language|formal\w*|informal"
    r"|short|brief|concise|detail\w*|emails?|letters?|names?|pronouns?|titles?|latex|json|tabs?|spaces|indent\w*"
    r"|quotes|semicolons?|imports?|types?|functions?|variables?|comments?|librar(?:y|ies)|python|rust|typescript)\b))"
    r"|^(?:i|we)(?:'d| would)?(?: (?:really|generally|usually|always|strongly|much))? prefer .*\b(?:answers?|replies"
    r"|reply|responses?"
    r"|explanations?|summar\w+|format|units?|bullet|language|english|tone|detail\w*|sentences?|code|examples?)\b",
    re.IGNORECASE,
)
"""An order about what an agent says in a chat; there "never give up" and "always be yourself" are talk."""
ABOUT_WORK = lazy_regex(
    r"`|\b(?:commit\w*|push|pull requests?|prs?|branch(?:es)?|main|code|codebase|repo\w*|lint\w*|deploy\w*|changelog"
    r"|semicolons?|mocks?"
    r"|functions?|unit tests?|type hints?|docstrings?)\b|\w/\w|\w_\w|(?<!\S)--\w",
    re.IGNORECASE,
)
"""Words of software work (commits, tests, branches, files): a sentence with one is no talk between friends."""

# Said for fun: "remember that I owe you a beer lol".
_JOKE: Final = lazy_regex(
    r"\b(?:lol|(?:ha){2,}\w*|lmao|rofl|jk|(?:just )?kidding|xd|(?:ja){2,}\w*|nur spaß|war ein witz|je rigole|mdr)\b"
    r"|[\U0001f602\U0001f923\U0001f61c\U0001f609\U0001f92a]|(?<!\w);-?\)|(?<!\w):-?[DP]\b|哈哈|笑[）)]"
    r"|(?<![\w.])w{3,}$",
    re.IGNORECASE,
)
# "Sure, always deploy on a full disk, who needs space. Just brilliant."
_IRONY: Final = lazy_regex(
    r"\bwho needs (?:that|them|it|those|these|tests?|backups?|sleep|any\w*)\b|\bwhat could (?:possibly )?go wrong\b"
    r"|^(?:oh,? )?(?:yeah|yes|sure),? right\b[,.!]"
    r"|\bjust (?:brilliant|great|wonderful|perfect|fantastic|lovely|what i needed)\b\W*$"
    r"|\boh,? (?:great|wonderful|brilliant|fantastic|joy|lovely|perfect)\b|\bhow (?:very )?(?:clever|smart) of you\b"
    r"|(?:^|\s)/s\b|\U0001f644|\bslow clap\b|\bthanks for nothing\b|\bwhat a (?:surprise|genius)\b"
    r"|\bna (?:super|toll|klasse|prima|bravo)\b|\bwer braucht (?:das|schon)\b|\bwas soll(?:te)? (?:da )?schon schief"
    r"|\bquién necesita\b|\bqué podría salir mal\b|\bben voyons\b|\bqui a besoin de (?:ça|tests)\b|呵呵|谁需要",
    re.IGNORECASE | re.MULTILINE,
)
# What is said in a game or a story is of its figures.
_GAME: Final = lazy_regex(
    r"\blet'?s (?:play|pretend)\b|\bpretend (?:to be|you|that)\b|\brole[- ]?play\w*\b|\b(?:act|behave|talk) as if you\b"
    r"|\bact as (?:an?|my|the)\b|\bimagine (?:that )?you(?:'re| are)\b|^you are (?:now )?(?:an?|the) (?!bit\b|little\b)"
    r"|\b(?:lass uns|wir) spielen\b.*:|\bstell dir vor, du\b|\btu so, als\b|\bdu bist (?:jetzt|ab jetzt|nun) (?:ein"
    r"|der|die)"
    r"|\bjuguemos\b|\bimagina que (?:eres|tú)\b|\bactúa como\b|\bjouons\b|\bimagine que tu\b|\bfais comme si\b"
    r"|\btu es maintenant (?:un|le|la)|假装|扮演|假设你是|你现在是|ふりをして|演じて|なりきって|ロールプレイ",
    re.IGNORECASE | re.MULTILINE,
)
_TAKES_BACK: Final = lazy_regex(
    r"^(?:(?:hmm+|wait|no|nah|ok(?:ay)?|oh|sorry|actually|ah|ach|nein|non)\b[\s,.!]*)*(?:never ?mind(?: (?:that"
    r"|all that))?"
    r"(?=\s*(?:[,.!;\u2013\u2014-]|$))|(?:scrap|scratch|ignore|forget) (?:it|that|this|all that"
    r"|what i (?:just )?said)\b"
    r"|on second thoughts?\b|i(?:'ve| have)? changed my mind\b|vergiss (?:das|es)\b(?! nicht)|doch nicht\b"
    r"|ich hab\w* es mir"
    r" anders überlegt|olvídalo\b|olvida eso\b|oublie (?:ça|cela)\b|laisse tomber\b|算了|当我没说|やっぱり(?:いい"
    r"|やめ)|忘れてください)",
    re.IGNORECASE,
)
_GIVES_UP: Final = lazy_regex(
    r"\b(?:forget(?: about)?|scrap|ditch|drop|stop using|no longer use|instead of|rather than|away from|no more)"
    r" (?:the )?`?(?P<name>[\w][\w.+-]*\w)",
    re.IGNORECASE,
)


# Over with its time: "until the release is out, never touch main", "for this session, always ask".
_FOR_A_WHILE: Final = lazy_regex(
    r"^(?:until|while|as long as|during|tonight|today|this (?:week|month|sprint)|for (?:this|now|today))\b",
    re.IGNORECASE,
)
# What is to be written says it, not the person: "write the prompt of our bot: it is polite, never mentions prices". A
# file of instructions for agents is written for them.
_WRITES: Final = lazy_regex(
    r"^(?!.*\b(?:CLAUDE|AGENTS|GEMINI|MEMORY|CONTRIBUTING)\.md\b)(?:please |can you |now )*(?:write|draft|compose"
    r"|document|describe|create|build|implement|design|generate|translate|rewrite|summari[sz]e|help me write)\b",
    re.IGNORECASE,
)
# Of what a program shows, unless it is the agent that shows it.
_SHOWS: Final = lazy_regex(
    r"^(?:show|display|hide|render)\b(?! (?:me\b|us\b|(?:the |a |your )?(?:diffs?|output|commands?|plan|errors?|logs?"
    r"|changes|results?|steps?|sources?|work|reasoning|code|answers?)\b))",
    re.IGNORECASE,
)


def is_for_a_while(clause: str) -> bool:
    """Return True for a condition that will end, as "until the release": a rule after it is no standing rule."""
    return _FOR_A_WHILE.match(clause) is not None


def asks_for_text(clause: str) -> bool:
    """Return True for a request to write or build something, whose described properties are no rules."""
    return _WRITES.match(clause) is not None


def is_shown_by_program(order: str) -> bool:
    """Return True for an order to show or hide something that is rather a program's than an agent's."""
    return _SHOWS.match(order) is not None


def is_joke(sentence: str) -> bool:
    """Return True for a sentence with a mark of laughter."""
    return _JOKE.search(sentence) is not None


def is_ironic(message: str) -> bool:
    """Return True for an ironic message: its orders mean the opposite."""
    return _IRONY.search(message.replace("\u2019", "'")) is not None


def takes_back(message: str) -> bool:
    """Return True if a message begins by taking back the one before it: "never mind, ..."."""
    return _TAKES_BACK.match(message.strip().replace("\u2019", "'")) is not None


def names_given_up(message: str) -> set[str]:
    """Return the names, in small letters, of what a message gives up: "forget black, use ruff" gives `black`."""
    return {match["name"].lower() for match in _GIVES_UP.finditer(message)}


def sincere_messages(messages: Iterable[Utterance], *, chat: bool) -> list[Utterance]:
    """Return the messages without ironic ones and those that open a game; in a chat also without all that follow."""
    kept: list[Utterance] = []
    for said in messages:
        if _GAME.search(said.text.replace("\u2019", "'")):
            if chat:
                break
        elif not is_ironic(said.text):
            kept.append(said)
    return kept


def is_reported(sentence: str) -> bool:
    """Return True for a sentence whose words are another person's by its own account: "..., he said"."""
    return _REPORTED.search(sentence.rstrip(" .!").replace("\u2019", "'")) is not None
