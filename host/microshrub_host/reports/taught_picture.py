"""The picture of a board that is taught twice: accuracy over time, as SVG."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..evaluation.taught_twice import FOREST, FROZEN, OURS, TaughtTwice
from ..streams.worlds.turned import AFTER, AGAIN, ALONE, LESSON, TURNED

_WIDTH, _HEIGHT = 900, 380
_LEFT, _RIGHT, _TOP, _BOTTOM = 50, 190, 70, 340  # of the axes; the names need room at the right
_LOOKS = {
    FOREST: ("#c2570c", 'stroke-width="2" stroke-dasharray="2 4"'),
    FROZEN: ("#6b7280", 'stroke-width="2" stroke-dasharray="8 4"'),
    OURS: ("#0b63c4", 'stroke-width="4"'),
}
_PHASES = {
    LESSON: "taught",
    ALONE: "alone",
    TURNED: "sensor turned, alone",
    AGAIN: "taught",
    AFTER: "alone",
}
_RECENT = 100  # samples in a point of a line, at most
_FEWEST = 20
_APART = 18  # pixels between two names


def draw(outcome: TaughtTwice) -> str:
    """Return the text of an SVG file."""
    whole = sum(outcome.seconds[phase] for phase in _PHASES)
    wide = (_WIDTH - _LEFT - _RIGHT) / whole
    begins, x = {}, float(_LEFT)
    for phase in _PHASES:
        begins[phase] = x
        x += wide * outcome.seconds[phase]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'width="{_WIDTH}" height="{_HEIGHT}" font-family="sans-serif" font-size="13" '
        'fill="#222">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="{_LEFT}" y="24" font-size="17">Accuracy on gestures that nobody labels, '
        "percent</text>",
        *_backgrounds(outcome, begins, wide),
        *_grid(x),
    ]
    for name, (colour, look) in _LOOKS.items():
        if name in outcome.right:
            parts += _lines(outcome, name, begins, wide, f'stroke="{colour}" {look}')
    parts += _names(outcome, x)
    return "\n".join([*parts, "</svg>", ""])


def _backgrounds(outcome: TaughtTwice, begins: dict[int, float], wide: float) -> Iterator[str]:
    for phase, name in _PHASES.items():
        x, width = begins[phase], wide * outcome.seconds[phase]
        if phase in (LESSON, AGAIN):
            yield (
                f'<rect x="{x:.0f}" y="{_TOP}" width="{width:.0f}" height="{_BOTTOM - _TOP}" '
                'fill="#ffe9b8"/>'
            )
            name += f", {outcome.seconds[phase]:.0f} s"
        if phase == TURNED:
            yield f'<path d="M{x:.0f} {_TOP - 8}V{_BOTTOM}" stroke="#b00020" stroke-width="2"/>'
        middle, low = x + width / 2, phase == AGAIN
        yield (
            f'<text x="{middle:.0f}" y="{_TOP - 24 if low else _TOP - 10}" text-anchor="middle">'
            f"{name}</text>"
        )


def _grid(right: float) -> Iterator[str]:
    for percent in range(0, 101, 25):
        y = _height(percent)
        yield f'<path d="M{_LEFT} {y:.0f}H{right:.0f}" stroke="#ddd"/>'
        yield f'<text x="{_LEFT - 8}" y="{y + 4:.0f}" text-anchor="end">{percent}</text>'
    yield f'<text x="{_LEFT}" y="{_BOTTOM + 24}">time, four minutes; a button is pressed in the '
    yield "yellow parts</text>"


def _lines(
    outcome: TaughtTwice, name: str, begins: dict[int, float], wide: float, look: str
) -> Iterator[str]:
    for phase in (ALONE, TURNED, AFTER):
        right = outcome.right[name][phase]
        hop = wide * outcome.seconds[phase] / len(right)
        points = " ".join(
            f"{begins[phase] + hop * (_FEWEST + k):.0f},{_height(percent):.0f}"
            for k, percent in enumerate(_recent(right))
        )
        yield f'<polyline points="{points}" fill="none" {look}/>'


def _recent(right: NDArray[np.bool_]) -> list[float]:
    """Return the percentage right of the last _RECENT samples, for each from the _FEWEST-th on."""
    return [
        100 * float(right[max(0, end - _RECENT) : end].mean())
        for end in range(_FEWEST, len(right) + 1)
    ]


def _names(outcome: TaughtTwice, x: float) -> Iterator[str]:
    """Yield the lines' names and percentages in the last phase, at the right, without overlap."""
    percents = {name: outcome.percent(name, AFTER) for name in _LOOKS if name in outcome.right}
    at = float("-inf")
    for name, percent in [
        *sorted(percents.items(), key=lambda item: -item[1]),
        ("guessing", outcome.guessing[AFTER]),
    ]:
        y = max(_height(percent) + 4, at + _APART)
        at = y
        look = f'fill="{_LOOKS[name][0]}"' if name in _LOOKS else ""
        look += ' font-weight="bold"' * (name == OURS)
        yield f'<text x="{x + 10:.0f}" y="{y:.0f}" {look}>{name}: {percent:.0f} %</text>'


def _height(percent: float) -> float:
    return _BOTTOM - (_BOTTOM - _TOP) * percent / 100
