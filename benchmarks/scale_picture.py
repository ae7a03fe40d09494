"""The picture of docs/explanation/scale.md: what share of each resource a load takes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from scale_constants import Constants
from scale_model import Site, needs

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "scale.svg"
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 820, 440, 70, 235, 40, 50
LOW, HIGH = 2.0, 5.0
"""Powers of ten of decisions a second."""
LEAST, MOST = -3.0, 1.0
"""Powers of ten of the share of a resource."""
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#a8467f", "#8a6d00", "#444444", "#56a0d3")
GAP = 15.0


def draw(every: Mapping[str, Constants], site: Site) -> None:
    """Write the picture."""
    found = every.get("postgres") or next(iter(every.values()))
    rates = [10 ** (LOW + step * (HIGH - LOW) / 30) for step in range(31)]
    lines = {
        name: [(rate, needs(found, rate, site)[name]) for rate in rates]
        for name in needs(found, 1.0, site)
    }
    PICTURE.write_text(_svg(lines), encoding="utf-8")


def _svg(lines: Mapping[str, Sequence[tuple[float, float]]]) -> str:
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        'font-family="system-ui, sans-serif" font-size="13">',
        "<title>What share of each resource a load takes, on PostgreSQL</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="22" font-weight="600">Share of each resource, by decisions a second'
        "</text>",
        *_grid(),
    ]
    ends = _apart({name: _y(points[-1][1]) for name, points in lines.items()})
    for colour, (name, points) in zip(COLOURS, lines.items(), strict=False):
        path = " ".join(f"{_x(rate):.1f},{_y(share):.1f}" for rate, share in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.append(
            f'<text x="{WIDTH - RIGHT + 8}" y="{ends[name] + 4:.1f}" fill="{colour}">{name}</text>'
        )
    return "\n".join([*parts, "</svg>", ""])


def _grid() -> list[str]:
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    parts = []
    for power in range(int(LEAST), int(MOST) + 1):
        y = _y(10.0**power)
        label = f"{100 * 10.0**power:g} %"
        colour, width = ("#b00020", 1.5) if power == 0 else ("#dddddd", 1)
        parts.append(
            f'<line x1="{LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}" stroke="{colour}" '
            f'stroke-width="{width}"/>'
        )
        parts.append(
            f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end" fill="#333333">{label}</text>'
        )
    for power in range(int(LOW), int(HIGH) + 1):
        x = _x(10.0**power)
        parts.append(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{bottom}" stroke="#dddddd"/>'
            f'<text x="{x:.1f}" y="{bottom + 20}" text-anchor="middle" fill="#333333">'
            f"{10**power:,}</text>"
        )
    return parts


def _x(rate: float) -> float:
    return LEFT + (math.log10(rate) - LOW) / (HIGH - LOW) * (WIDTH - RIGHT - LEFT)


def _y(share: float) -> float:
    place = min(MOST, max(LEAST, math.log10(max(share, 1e-9))))
    return HEIGHT - BOTTOM - (place - LEAST) / (MOST - LEAST) * (HEIGHT - BOTTOM - TOP)


def _apart(places: Mapping[str, float]) -> dict[str, float]:
    """Move labels down until none lies on another."""
    found: dict[str, float] = {}
    last = -GAP
    for name, place in sorted(places.items(), key=lambda one: one[1]):
        last = found[name] = max(place, last + GAP)
    return found
