"""Benchmark of the search with an embedder: how much more of what was asked for it finds, and what that costs.

    python tests/bench/bench_search_meaning.py MODEL

MODEL is what `memory.embedder` takes, a folder or an installed package. The questions and conversations are those of
`bench_search.py locomo`, in this process: the shares of the evidence among the best 5 and 10, by words alone and with
each weight of similarity, then with the weight chosen on all conversations but the one that is asked about.
"""

from __future__ import annotations

import itertools
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.bench_search import Asked, Said, conversations, index_of, line, shares
from reverie import search
from reverie.embedding import Embedder, Vectors, configured
from reverie.embedding.table import numpy
from reverie.errors import EmbedderFailed
from reverie.text_index import Filter, Hit

WEIGHTS = (0.0, 5.0, 10.0, 20.0, 30.0, 40.0)
NEARS = (50, 100, 200)
Found = tuple[str, set[str], list[Hit], list[tuple[str, float]]]  # question, evidence, hits by words, nearest ids


def main(model: str) -> None:
    """Print the shares for each weight, and for the weight that the other conversations choose."""
    data = conversations()
    try:
        embedder = configured(model, home=Path.home())
    except EmbedderFailed as error:
        line(f"search with {model}", f"skipped: {error.message}; {error.hint}")
        return
    if not data:
        line("evidence of questions", "skipped: ../shared/data/locomo is not here")
        return
    table: dict[tuple[int, float], list[tuple[float, float]]] = {
        setting: [] for setting in itertools.product(NEARS, WEIGHTS)
    }
    for conversation in data:
        for setting, share in of_conversation(embedder, *conversation).items():
            table[setting].append(share)
    sizes = [len(questions) for _, questions in data]
    for (near, weight), found in table.items():
        line(f"nearest {near}, weight {weight:g}: R@5, R@10", shown(found, sizes))
    held_out = []
    for left in range(len(data)):
        rest = [number for number in range(len(data)) if number != left]
        best = max(table, key=lambda setting: sum(sum(table[setting][number]) * sizes[number] for number in rest))
        held_out.append(table[best][left])
        line(f"chosen without conversation {left + 1}", f"nearest {best[0]}, weight {best[1]:g}")
    line("chosen on the others: R@5, R@10", shown(held_out, sizes))


def of_conversation(
    embedder: Embedder, said: list[Said], questions: Asked
) -> dict[tuple[int, float], tuple[float, float]]:
    """Return, for each setting, the mean shares of the expected messages among the best five and ten hits."""
    index, names = index_of(said)
    vectors = Vectors(numpy(), embedder.name, embedder.dimensions)
    began = time.perf_counter()
    made = embedder.embed([text for _, _, text, _ in said])
    line(f"{len(said)} messages embedded, each", f"{1e3 * (time.perf_counter() - began) / len(said):.1f} ms")
    for at, unit in enumerate(names):
        thread, _, number = unit.rpartition("/")
        vectors.add(thread, [(int(number), None)], made[at : at + 1])
    results: dict[tuple[int, float], list[tuple[float, float]]] = {}
    for text, evidence in questions:
        how = search.surroundings_for(text)
        by_words = index.search_around(text, 10, how)
        nearest = vectors.near(embedder.embed([text])[0], max(NEARS))
        known = {hit.id for hit in by_words}
        others = Filter(ids=[unit for unit, _ in nearest if unit not in known])
        by_words += index.search_around(text, len(nearest), how, others)
        for near, weight in itertools.product(NEARS, WEIGHTS):
            search.SIMILAR = weight  # type: ignore[misc]
            hits = search.fused(by_words, nearest[:near], 10)
            best = [names[hit.id] for hit in hits]
            results.setdefault((near, weight), []).append(shares(best, evidence))
    return {
        setting: (statistics.mean(five for five, _ in found), statistics.mean(ten for _, ten in found))
        for setting, found in results.items()
    }


def shown(found: list[tuple[float, float]], sizes: list[int]) -> str:
    """Return the means over all questions as text for a row of the table."""
    means = (sum(each[at] * size for each, size in zip(found, sizes, strict=True)) / sum(sizes) for at in (0, 1))
    return " ".join(f"{mean:.4f}" for mean in means)


if __name__ == "__main__":
    main(sys.argv[1])
