"""Dreams: budget, reproducible archives, redaction, and duplicates among sources."""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import sys

import pytest
from msgspec.structs import replace

from reverie import canonical_json, tokenizer, wire
from reverie.consolidate import ArchivePlan, apply, plan_oldest
from reverie.errors import TokenBudgetExceeded, ValidationError
from reverie.models import Delete, Memory, MemoryType
from reverie.redact import Redactor
from reverie.wire.parsing import parse
from support.soak import count

AT = "2026-11-21T09:30:00.000Z"
MAXIMUM = 200_000  # tokens, the largest budget of these dreams
SECRET = "correct-horse-battery"  # noqa: S105 # a made-up literal
REDACT = Redactor([SECRET]).text


def fact(number: int, content: str, kind: str = "fact", **more: object) -> Memory:
    known = Memory(f"mem_{number}", MemoryType(kind), content, ("tag",), "facts/project.md", AT, AT)
    return replace(known, **more)


MEMORIES = [
    fact(1, "Integration tests need a running broker"),
    fact(2, "Do not rebase stable: the mirror rejects it", "mistake"),
    fact(3, "Integration tests need a running broker"),
    fact(4, "The broker listens on port 5672", "observation"),
    fact(5, "Tests need a running broker", trust="person"),
    fact(6, "retry kept the old timestamp", "episode", title="Queue age fix", fields=(("Date", "2026-02-24"),),
         document="episodes/2026-02.md"),
]  # fmt: skip


def dream(memories: list[Memory], budget: int = 10_000) -> ArchivePlan:
    plan = plan_oldest(memories, budget=budget, maximum=MAXIMUM, redact=REDACT).plan
    assert plan is not None
    return plan


def test_the_shape_of_an_archive() -> None:
    """Exactly the documented fields, sources sorted by hash; the address is the hash of the bytes."""
    plan = dream(MEMORIES)
    assert set(plan.body) == {"version", "kind", "sources", "budget", "tokenizer", "summary", "memories", "changes"}
    assert (plan.body["kind"], plan.body["budget"], plan.body["tokenizer"]) == ("dream", 10_000, "o200k_base")
    hashes = [source["sha256"] for source in plan.body["sources"]]
    assert hashes == sorted(hashes)
    assert len(hashes) == len(MEMORIES)
    assert plan.sha256 == hashlib.sha256(plan.data).hexdigest()
    assert json.loads(plan.data) == plan.body
    assert canonical_json.canonical(plan.body) == plan.data


def test_duplicates_are_kept_once() -> None:
    """Of two equal memories the newer is deleted; mistakes come first in the archive, the episode last."""
    plan = dream(MEMORIES)
    assert plan.changes == (Delete("mem_3"),)
    assert [entry["content"] for entry in plan.body["memories"]][:2] == [
        "Do not rebase stable: the mirror rejects it",
        "Integration tests need a running broker",
    ]
    assert plan.body["memories"][-1]["title"] == "Queue age fix"
    assert len(plan.body["memories"]) == 4
    topics = "broker, need, running, test, integration"
    assert plan.body["summary"] == f"1 mistake, 3 facts, 1 observation, 1 episode. About: {topics}."
    after = apply(plan.changes, MEMORIES, at=AT, new_ids=())
    assert [memory.id for memory in after] == ["mem_1", "mem_2", "mem_4", "mem_5", "mem_6"]
    assert dream(list(after)).changes == ()


def test_duplicates_have_their_tags_joined() -> None:
    """Of two memories with the same words the one that stays gets the tags of both; a person's line keeps its own."""
    same = replace(MEMORIES[0], tags=("a", "b"))
    other = replace(same, id="mem_9", created_at="2030", tags=("b", "c"))
    plan = dream([same, other])
    gone = next(change.id for change in plan.changes if isinstance(change, Delete))
    (kept,) = apply(plan.changes, [same, other], at=AT, new_ids=())
    assert {kept.id, gone} == {same.id, "mem_9"}
    assert sorted(kept.tags) == ["a", "b", "c"]
    assert dream([kept]).changes == ()
    assert dream([replace(same, trust="person"), other]).changes == (Delete("mem_9"),)
    assert dream([replace(same, trust="person"), replace(other, trust="person")]).changes == ()


def test_an_archive_has_no_time_and_no_id() -> None:
    """Equal memories with other ids, times and order give the same archive."""
    other = [
        replace(m, id=f"mem_{n + 70}", created_at="2020", updated_at="2021", access_count=4)
        for n, m in enumerate(MEMORIES)
    ]
    plan, again = dream(MEMORIES), dream(other[::-1])
    assert again.data == plan.data
    assert "mem_" not in plan.data.decode()
    assert AT[:10] not in plan.data.decode()


def test_the_budget_is_exact() -> None:
    """Every budget from the minimum on is kept; one token less is refused with the minimum named."""
    with pytest.raises(TokenBudgetExceeded) as caught:
        dream(MEMORIES, 1)
    assert caught.value.budget == 1
    least = caught.value.minimum_required
    assert caught.value.hint
    with pytest.raises(TokenBudgetExceeded) as caught:
        dream(MEMORIES, least - 1)
    assert caught.value.minimum_required == least
    assert dream(MEMORIES, least).body["memories"] == []
    shown = []
    for budget in range(least, least + 400, 7):
        plan = dream(MEMORIES, budget)
        assert plan.tokens_used <= budget
        said = {key: plan.body[key] for key in ("changes", "memories", "summary")}
        reading = plan.tokens_used - tokenizer.count(json.dumps(said, ensure_ascii=False, separators=(",", ":")))
        assert reading == dream(MEMORIES).tokens_used - tokenizer.count(
            json.dumps({key: dream(MEMORIES).body[key] for key in said}, ensure_ascii=False, separators=(",", ":"))
        )
        shown.append(len(plan.body["memories"]))
    assert shown == sorted(shown)
    assert shown[-1] == 4


def test_without_new_memories_there_is_no_plan() -> None:
    """No memories give no plan, however small the budget is."""
    assert plan_oldest([], budget=1, maximum=1, redact=REDACT).plan is None


def test_secrets_are_redacted_before_hashing() -> None:
    """Secrets are redacted before an archive is hashed; sources of secrets alone give an archive without memories."""
    secret = dream([fact(1, f"The password is {SECRET}", tags=(SECRET,), title=SECRET, fields=(("k", SECRET),))])
    assert SECRET not in secret.data.decode()
    assert "[REDACTED:secret]" in secret.data.decode()
    marked = fact(
        1,
        "The password is [REDACTED:secret]",
        tags=("[REDACTED:secret]",),
        title="[REDACTED:secret]",
        fields=(("k", "[REDACTED:secret]"),),
    )
    assert dream([marked]).sha256 == secret.sha256
    empty = dream([fact(1, SECRET), fact(2, f"{SECRET} {SECRET}")])
    assert empty.body["memories"] == []
    assert len(empty.body["sources"]) == 2


@pytest.mark.parametrize("budget", [0, -1, -(2**40), 1.0, 8000.5, float("nan"), "8000", "NaN", "", True, [1]])
def test_an_invalid_budget_is_refused(budget: object) -> None:
    """A request with a budget that is no whole number of at least one token raises ValidationError."""
    with pytest.raises(ValidationError):
        parse(wire.StartDream, json.dumps({"tokenBudget": budget}).encode())


def test_random_dreams_keep_their_budget() -> None:
    """Random memories and budgets: within the budget, or refused with a minimum that then works."""
    chance = random.Random(7)
    words = ["broker", "cache", "deploy", "parser", "queue", "retry", "schema", "token", "worker", "index"]
    for _ in range(count(60, 10_000)):
        memories = []
        for n in range(chance.randrange(1, 12)):
            content = " ".join(chance.choices(words, k=chance.randrange(1, 30)))
            memories.append(fact(n, content, chance.choice(["fact", "mistake", "skill"])))
        budget = chance.randrange(1, 600)
        try:
            plan = dream(memories, budget)
        except TokenBudgetExceeded as error:
            least = error.minimum_required
            plan = dream(memories, least)
            budget = least if least > budget else 0
        assert plan.tokens_used <= budget


PROGRAM = """
import sys
from reverie.consolidate import apply, decide, plan_oldest
from reverie.models import Candidate, Memory, MemoryType, Tier
from reverie.documents.edit import new_document
from reverie.documents.items import Wording
from reverie.documents.index import long_term_memory
kinds = list(MemoryType)
texts = ["Use the " + w + " for " + v for w in "cache broker parser index".split() for v in "tests builds runs".split()]
at = "2026-11-21T09:30:00.000Z"
new = [Candidate(kinds[n % 7], t, tuple(sorted(set(t.split()[2:4]))), title=t) for n, t in enumerate(texts * 2)]
seen = ()
for tier in Tier:
    seen = apply(decide(new, seen, tier).changes, seen, new, at=at, new_ids=[f"m{len(seen) + n}" for n in range(99)])
plan = plan_oldest(seen, budget=5000, maximum=5000, redact=str).plan
print(plan.sha256, hash("x") and len(seen))
for path in sorted({memory.document for memory in seen}):
    told = [(m.id, Wording(m.content, m.tags, m.title, m.fields)) for m in seen if m.document == path]
    print(new_document(path, told, day=at[:10]))
print(long_term_memory(seen))
"""


def test_every_process_decides_the_same() -> None:
    """Consolidation, documents and dreams do not depend on hash seeds, locale or time zone."""
    outputs = set()
    for seed, zone, locale in (("0", "UTC", "C"), ("1", "Asia/Tokyo", "C.UTF-8"), ("4242", "America/Nuuk", "C")):
        env = {**os.environ, "PYTHONHASHSEED": seed, "TZ": zone, "LC_ALL": locale}
        outputs.add(subprocess.run([sys.executable, "-c", PROGRAM], env=env, capture_output=True, check=True).stdout)
    assert len(outputs) == 1
    assert len(outputs.pop()) > 1000
