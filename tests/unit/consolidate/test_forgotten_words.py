"""Words of forgotten statements: frames that do not count, look-alike letters, Chinese and Japanese, short wishes."""

from __future__ import annotations

import itertools

import pytest

from reverie.consolidate.forgotten import (
    Forgotten,
    ForgottenStatement,
    Nearness,
    statement_key,
    stems_in_order,
)
from reverie.models import Candidate, MemoryType

FEE = "The mooring fee is 40 euros"
CORRECTED = "Use pnpm for the install instead of npm: the user had to correct this, about {} (2026-11-28)."


def nearness(forgotten: str, said: str, *, purged: bool = False, kind: MemoryType = MemoryType.FACT) -> str | None:
    """Return how near `said` is to what was forgotten."""
    known = Forgotten([ForgottenStatement(statement_key(forgotten), "" if purged else forgotten, "")])
    found = known.nearest(Candidate(type=kind, content=said))
    return None if found is None else found[0]


@pytest.mark.parametrize(
    "framed",
    [
        "The mooring fee is 40 euros (from r.md)",
        "The user asked to remember: “the mooring fee is 40 euros” (2026-11-28).",
        "The user wants: “The mooring fee is 40 euros”",
        "The mooring fee is 40 euros #fees #harbour",
        "The mooringfee is 40euros",
        "The mooring-fee is 40 euros",
        "Th\u0435 moor\u200bing f\u0435e is 40 \u0435uros",
    ],
)
def test_frames_and_look_alikes_are_no_words(framed: str) -> None:
    """After a purge, when only a hash is left, the same words are recognized in each frame, and without it."""
    assert nearness(FEE, framed, purged=True) == Nearness.SAME
    assert nearness(framed, FEE, purged=True) == Nearness.SAME


@pytest.mark.parametrize(
    ("forgotten", "framed"),
    [
        (FEE, "Rule: The mooring fee is 40 euros (from r.md)"),
        (FEE, "Please keep in mind that the mooring fee is 40 euros"),
        (FEE, "According to the harbour master, the mooring fee is 40 euros"),
        (FEE, "The mooring fee is 40 euros, says Bob"),
        ("Der Lader liest nachts", "Wir haben festgestellt: der Lader liest nachts."),
        ("El cargador lee de noche", "Hemos aprendido que el cargador lee de noche."),
        ("Il lit la nuit", "Nous avons appris que il lit la nuit"),
        ("港口的吊车只能吊九吨", "我们了解到港口的吊车只能吊九吨"),
        ("港口的吊车只能吊九吨", "请注意：港口的吊车只能吊九吨。"),
        ("クレーンは九トンまで", "なお、クレーンは九トンまで"),
    ],
)
def test_the_same_words_among_others_wait(forgotten: str, framed: str) -> None:
    """A purged statement is found inside of a few other words, in any language, and waits for a person."""
    assert nearness(forgotten, framed, purged=True) == Nearness.NEAR


@pytest.mark.parametrize(
    ("forgotten", "said"),
    [
        ("Staging: the port is 8080", "Production: the port is 8080"),
        ("The mooring fee is 40 euros", "The mooring fee is 45 euros"),
        ("Remember to lock the gate at night", "Lock the gate at noon"),
        ("The lock leaks, see #12", "The lock leaks, see #13"),
        ("Правило порта простое", "Правило парома другое"),
        ("The mooring fee is 40 euros", "We thought that the mooring fee is 40 euros"),
        ("The mooring fee is 40 euros", "Nobody knows that the mooring fee is 40 euros"),
        ("The ships weigh 1 23 times", "The ships weigh 12 3 times"),
        ("The lift holds 4 0 men", "The lift holds 40 men"),
        ("安全第一", "注意安全第一线"),
        ("Note the fee", "The fee"),
    ],
)
def test_other_words_have_another_key(forgotten: str, said: str) -> None:
    """Another label, number or word is another statement."""
    assert statement_key(forgotten) != statement_key(said)


def test_a_label_of_its_own_waits() -> None:
    """A forgotten statement behind a new label is not surely another statement: it waits."""
    assert nearness(FEE, "Harbour of Graz: the mooring fee is 40 euros", purged=True) == Nearness.NEAR
    assert nearness("The port is open", "Harbour: the port is closed", purged=True) is None


def test_the_step_before_a_correction_is_no_part_of_it() -> None:
    """The same correction about another command is the same; another correction about the same command is not."""
    first, second = CORRECTED.format("`npm ci`"), CORRECTED.format("“I will run npm install now.”")
    assert nearness(first, second, kind=MemoryType.MISTAKE, purged=True) == Nearness.SAME
    other = "Ask before a release: the user had to correct this, about `npm ci` (2026-11-28)."
    assert nearness(first, other, kind=MemoryType.MISTAKE) is None


@pytest.mark.parametrize(
    ("forgotten", "said", "expected"),
    [
        ("The user wants: “每次提交前必须先跑测试。”", "每次提交前必须先跑测试。", Nearness.SAME),
        (
            "The user wants: “今後は必ずコミット前にテストを実行してください。”",
            "今後は必ずコミット前にテストを実行してください。",
            "same",
        ),
        ("每次提交前必须先跑测试。", "提交之前一律要先运行测试", Nearness.NEAR),
        ("请始终用中文回答。", "请总是用中文回复", Nearness.NEAR),
        ("今後は必ずコミット前にテストを実行してください。", "コミットする前には毎回テストを走らせる", Nearness.NEAR),
        ("港口的吊车只能吊九吨", "灯塔必须在冬天刷成绿色", None),
    ],
)
def test_chinese_and_japanese(forgotten: str, said: str, expected: str | None) -> None:
    """Words without spaces are compared by characters; grammar does not count."""
    assert nearness(forgotten, said, kind=MemoryType.PREFERENCE) == expected


@pytest.mark.parametrize("kind", [MemoryType.PREFERENCE, MemoryType.FACT, MemoryType.MISTAKE, MemoryType.SKILL])
@pytest.mark.parametrize(
    ("forgotten", "said", "expected"),
    [
        ("Wants agents to always answer in German.", "Please always reply in German.", Nearness.NEAR),
        ("Wants agents to always answer in German.", "Always answer in English", None),
        ("Wants agents to always answer in German.", "Always comment in German.", Nearness.NEAR),
        ("Wants agents to always answer in German.", "The German office closes at five", None),
        ("Wants agents to always answer in German.", "Write commits and comments in German", None),
        ("Always use tabs.", "Prefer tabs", Nearness.NEAR),
        ("Always sign the releases", "Always announce the releases", Nearness.NEAR),
        ("Always sign the releases", "Always sign the commits", None),
        ("Remove the backups", "Please delete the backups", Nearness.NEAR),
    ],
)
def test_short_wishes(forgotten: str, said: str, kind: MemoryType, expected: str | None) -> None:
    """Two wishes of two words are near by what they are about, whatever verb and type they have."""
    assert nearness(forgotten, said, kind=kind) == expected


@pytest.mark.parametrize(
    ("forgotten", "said"),
    [
        ("Always answer in German.", "Lessons learned: Please always reply in German. (from notes.md)"),
        ("Always use tabs.", "Indentation: Prefer tabs (from notes.md)"),
    ],
)
def test_a_short_wish_below_a_heading(forgotten: str, said: str) -> None:
    """The heading of a file, which an engine puts before its words, does not make another wish of them."""
    assert nearness(forgotten, said) == Nearness.NEAR
    assert nearness(forgotten, said.replace("German", "Dutch").replace("tabs", "pens")) is None


@pytest.mark.parametrize("wish", ["Always run {} before committing.", "Vor jedem Commit bitte {} ausführen."])
def test_other_code_is_another_wish(wish: str) -> None:
    """A wish in like words about another command, in code, is not near; below a heading the same one is."""
    names = ("`make lint`", "`make fmt`", "`npm test`")
    for one, other in itertools.permutations(names, 2):
        assert nearness(wish.format(one), wish.format(other)) is None, (one, other)
    for name in names:
        assert nearness(wish.format(name), f"Lessons of today: {wish.format(name)}") is not None, name


@pytest.mark.parametrize(
    ("forgotten", "said"),
    [
        ("Always run `make lint` before you commit.", "Never run npm test or commit before make lint."),
        ("Make changes only after asking.", "Never make any changes before asking."),
        ("Always use `pnpm` for the install.", "For the install, run pnpm install always"),
        ("Bitte immer auf Deutsch antworten.", "Antworte immer auf Deutsch, bitte nicht auf Englisch"),
        ("Always run cargo clippy before committing.", "Run cargo before committing, with clippy."),
        ("Only polish the brass on Fridays", "Polish the German brass on Fridays only"),
    ],
)
def test_the_same_name_among_others_is_near(forgotten: str, said: str) -> None:
    """A statement that names the forgotten thing beside another, or names none, waits as before."""
    assert nearness(forgotten, said) == Nearness.NEAR


@pytest.mark.parametrize(
    ("forgotten", "said"),
    [
        ("Bitte immer auf Deutsch antworten.", "Antworte bitte stets auf Deutsch"),
        ("Ab jetzt immer auf Deutsch antworten.", "Schreib mir bitte immer auf Deutsch"),
        ("Responde siempre en español.", "Por favor, escribe siempre en español"),
        ("Réponds toujours en français.", "Parle toujours en français, s'il te plaît"),
    ],
)
def test_short_wishes_of_other_languages(forgotten: str, said: str) -> None:
    """A wish in any language waits in other words."""
    assert nearness(forgotten, said) == Nearness.NEAR


def test_stems_are_in_order() -> None:
    assert stems_in_order("Please always reply in German") == ("reply", "germa")
