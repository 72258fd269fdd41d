"""Histogram of request durations for Prometheus, labelled by route pattern and never by a name from a request."""

from __future__ import annotations

from bisect import bisect_left

import msgspec

BUCKETS_S = (0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10.0)  # seconds: from a read in memory to a distillation


def family(name: str, kind: str, says: str, samples: list[tuple[str, float]]) -> list[str]:
    """Return a metric in Prometheus text format; a sample is its label, such as `role="cheap"` or "", and its value."""
    lines = [f"# HELP {name} {says}", f"# TYPE {name} {kind}"]
    for label, value in samples:
        number = value if isinstance(value, int) else f"{value:g}"
        lines.append(f"{name}{{{label}}} {number}" if label else f"{name} {number}")
    return lines


class _Series(msgspec.Struct):
    """Responses of one route and status: count, total seconds, and count per bucket."""

    count: int = 0
    seconds: float = 0.0
    buckets: list[int] = msgspec.field(default_factory=lambda: [0] * (len(BUCKETS_S) + 1))


class Metrics(msgspec.Struct):
    """Request durations by (method, route, status)."""

    series: dict[tuple[str, str, int], _Series] = msgspec.field(default_factory=dict)

    def observe(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count the duration of one answered request by its route and status."""
        entry = self.series.setdefault((method, route, status), _Series())
        entry.count += 1
        entry.seconds += seconds
        entry.buckets[bisect_left(BUCKETS_S, seconds)] += 1

    def lines(self) -> list[str]:
        """Return the histogram `reverie_request_seconds` in Prometheus text format."""
        name = "reverie_request_seconds"
        lines = family(name, "histogram", "Time from a whole request to its answer.", [])
        for (method, route, status), entry in sorted(self.series.items()):
            labels = f'method="{method}",route="{route}",status="{status}"'
            below = 0
            for bound, count in zip((*BUCKETS_S, "+Inf"), entry.buckets, strict=True):
                below += count  # buckets of Prometheus are cumulative
                lines.append(f'{name}_bucket{{{labels},le="{bound}"}} {below}')
            lines.append(f"{name}_sum{{{labels}}} {entry.seconds:.6f}")
            lines.append(f"{name}_count{{{labels}}} {entry.count}")
        return lines
