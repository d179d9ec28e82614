"""Draws Home Assistant's page of a board: python docs/home_assistant.py.

The rows are the entities that a board of `build --mqtt` announces, in the cards into which Home
Assistant sorts them; the values are an example's.
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from microshrub_tools.board.discovery_messages import Entity, entities

PICTURE = Path(__file__).parent / "images" / "home-assistant.svg"
_PROGRAM: dict[str, Any] = {
    "sensor": {"kind": "mpu6050"},
    **{key: {"is": "there"} for key in ("alarm", "anomaly", "checkpoint", "queries")},
}
_VALUES = {
    "state": "spin", "confidence": "93 %", "accuracy": "96 %", "drift": "OK", "anomaly": "OK",
    "normal": "PRESS", "label": "Not labelled  ▾", "query": "What is it?  ▾", "event": "query",
    "samples": "1,204", "free": "88,240 B", "unsaved": "0", "message": "learned: spin",
}  # fmt: skip
_CARDS = ("Controls", "Sensors", "Diagnostic")
_WIDTH, _GAP, _ROW, _TOP = 300, 20, 30, 70


def _card(entity: Entity) -> str:
    if entity.fields.get("ent_cat") == "diagnostic":
        return "Diagnostic"
    return "Sensors" if "sensor" in entity.platform or entity.platform == "event" else "Controls"


def picture() -> str:
    """Return the picture, as SVG."""
    rows: dict[str, list[Entity]] = {card: [] for card in _CARDS}
    for entity in entities(_PROGRAM):
        rows[_card(entity)].append(entity)
    height = _TOP + 50 + _ROW * max(map(len, rows.values()))
    width = len(_CARDS) * (_WIDTH + _GAP) + _GAP
    found = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="14">',
        f'<rect width="{width}" height="{height}" fill="#fafafa"/>',
        f'<text x="{_GAP}" y="34" font-size="22">kitchen</text>',
        f'<text x="{_GAP}" y="54" fill="#727272">Thicket by microshrub</text>',
    ]
    for k, (card, inside) in enumerate(rows.items()):
        found += _drawn(card, inside, _GAP + k * (_WIDTH + _GAP))
    return "\n".join([*found, "</svg>", ""])


def _drawn(card: str, inside: list[Entity], x: int) -> list[str]:
    size = 45 + _ROW * len(inside)
    found = [
        f'<rect x="{x}" y="{_TOP}" width="{_WIDTH}" height="{size}" rx="10" fill="#fff" '
        'stroke="#e0e0e0"/>',
        f'<text x="{x + 14}" y="{_TOP + 26}" font-size="17">{card}</text>',
    ]
    for n, entity in enumerate(inside):
        y = _TOP + 54 + _ROW * n
        value = escape(_VALUES[entity.key])
        right = x + _WIDTH - 14
        found.append(f'<text x="{x + 14}" y="{y}">{escape(entity.name)}</text>')
        found.append(f'<text x="{right}" y="{y}" text-anchor="end" fill="#03a9f4">{value}</text>')
    return found


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
