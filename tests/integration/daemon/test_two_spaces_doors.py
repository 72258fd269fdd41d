"""Two spaces of two projects each, through every door at once: no answer has a word of the other space or project."""

from __future__ import annotations

import random
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

from reverie.client import Client
from support.daemon import running_daemon
from support.doors import Place, all_doors
from support.model_servers import model_server
from support.soak import count
from support.tcp import free_port
from support.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from support.doors import Heard

CALLS = count(240, 100_000)
SPACES = {"blue": "skywatch", "red": "rosegarth"}
"""The word of each person, which is in what belongs to no project."""
WORDS = {("blue", 1): "amberwick", ("blue", 2): "tallowmere", ("red", 1): "violetmoor", ("red", 2): "copperfell"}
"""The word of each project of each space."""
FOLDERS = {1: "harbour", 2: "quarry"}
WEIGHTS = {
    "mcp": 30,
    "bridge": 12,
    "hooks": 22,
    "memory tool": 18,
    "proxy": 4,
    "client.session": 6,
    "adapter": 8,
}


def check(place: Place, heard: Heard) -> None:
    """Assert that an answer has no word of another space, nor of another project unless it is of the whole space."""
    own = {word for (space, _), word in WORDS.items() if space == place.space} if heard.of_space else {place.word}
    for word in {*WORDS.values(), *SPACES.values()} - own - {place.own}:
        assert word not in heard.text, (place.space, place.project.name, heard.call, word, heard.text[:3_000])


def test_nothing_crosses(tmp_path: Path) -> None:
    """Random calls of four agents at the same time; then each door shows what was written through it."""
    port = free_port()
    counted: Counter[str] = Counter()
    with running_daemon(REVERIE_DAEMON_TCP=f"127.0.0.1:{port}") as daemon, model_server() as models:
        places = []
        with Client(daemon.socket) as owner:
            for name in FOLDERS.values():
                (tmp_path / name).mkdir()
            for space, own in SPACES.items():
                owner.create_space(space)
                token = str(owner.create_token(space).token)
                for number, name in FOLDERS.items():
                    word = WORDS[space, number]
                    places.append(Place(space, token, tmp_path / name, word, own, number, daemon.home))
        begun = threading.Barrier(len(places))

        def run(place: Place) -> Counter[str]:
            chance, done = random.Random(f"{place.space} {place.number}"), Counter[str]()
            with all_doors(daemon, port, models, place) as doors:
                begun.wait()
                for turn in range(CALLS // len(places)):
                    names = list(doors)
                    name = names[turn % len(names)] if turn < 2 * len(names) else _chosen(chance)
                    check(place, doors[name].call(chance))
                    done[name] += 1
                for name, door in doors.items():
                    wait_until(partial(door.proof, chance), f"what was written, through {name}")
            return done

        with ThreadPoolExecutor(len(places)) as pool:
            for each in [pool.submit(run, place) for place in places]:
                counted += each.result()
        assert "Traceback" not in daemon.log_text()
    assert counted.total() == CALLS // len(places) * len(places)
    assert set(counted) == set(WEIGHTS)


def _chosen(chance: random.Random) -> str:
    return chance.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
