"""Draws the wiring pictures of examples/ and of the first tutorial: python docs/wiring.py.

A picture is a Raspberry Pi Pico from above, USB at the top, with the name and number of each used
pin, and the parts at the pins; wires to the same pin have one colour.
"""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[1]
_LEFT = "GP0 GP1 GND GP2 GP3 GP4 GP5 GND GP6 GP7 GP8 GP9 GND GP10 GP11 GP12 GP13 GND GP14 GP15"
_RIGHT = (
    "VBUS VSYS GND 3V3_EN 3V3 ADC_VREF GP28 AGND GP27 GP26 RUN GP22 GND GP21 GP20 GP19 GP18 GND "
    "GP17 GP16"
)
_STEP, _TOP, _PICO_X, _PICO_W = 24, 80, 280, 130
_COLOURS = {"3V3": "#c62828", "GND": "#333333", "AGND": "#333333"}
_OTHERS = ("#1565c0", "#2e7d32", "#ef6c00", "#6a1b9a")

Part = tuple[str, list[tuple[str, int]]]  # name, pins: (name, Pico's pin)


def _button(name: str) -> Part:
    return f"button “{name}”", [("1", 20), ("2", 18)]


def _bus(name: str) -> Part:
    """Return a part on the I2C bus at GP0 and GP1."""
    return name, [("VCC", 36), ("GND", 38), ("SCL", 2), ("SDA", 1)]


MPU = _bus("GY-521 (MPU-6050)")
CLAMP: Part = ("clamp, two 10 kΩ", [("3V3", 36), ("GND", 33), ("OUT", 31)])
PICTURES: dict[str, list[Part]] = {
    "docs/images/wiring-gestures.svg": [
        MPU,
        ("button “circle”", [("1", 19), ("2", 18)]),
        _button("shake"),
    ],
    "examples/gestures/wiring.svg": [MPU, _button("shake")],
    "examples/fan/wiring.svg": [MPU, _button("unbalanced")],
    "examples/washing/wiring.svg": [CLAMP, _button("spin")],
    "examples/house/wiring.svg": [CLAMP],
    "examples/room/wiring.svg": [_bus("BH1750"), _bus("SCD41"), _button("occupied")],
    "examples/soil/wiring.svg": [
        ("soil probe", [("VCC", 36), ("GND", 33), ("AOUT", 31)]),
        ("DHT22", [("VCC", 36), ("GND", 3), ("DATA", 4)]),
    ],
    "examples/keypad/wiring.svg": [_bus("MPR121"), _button("middle")],
}


def name_of(pin: int) -> str:
    """Return the name of a pin of the Pico, 1..40."""
    return [*_LEFT.split(), *reversed(_RIGHT.split())][pin - 1]


def place_of(pin: int) -> tuple[int, int]:
    """Return the place of a pin in the picture."""
    if pin <= 20:
        return _PICO_X, _TOP + _STEP * (pin - 1)
    return _PICO_X + _PICO_W, _TOP + _STEP * (40 - pin)


def picture(parts: list[Part]) -> str:
    """Return the picture as the text of an SVG file."""
    height = _TOP + 20 * _STEP + 20
    said = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 680 {height}" '
        'font-family="sans-serif" font-size="12" role="img">',
        "<title>Wiring: " + ", ".join(name for name, _ in parts) + "</title>",
        f'<rect width="680" height="{height}" fill="#ffffff"/>',
        '<rect x="20" y="20" width="640" height="' + str(height - 40) + '" rx="8" '
        'fill="#f4f1ea" stroke="#c9c2b2"/>',
        f'<rect x="{_PICO_X}" y="{_TOP - 20}" width="{_PICO_W}" height="{20 * _STEP + 16}" '
        'rx="6" fill="#1b5e20"/>',
        f'<rect x="{_PICO_X + 45}" y="{_TOP - 32}" width="40" height="24" fill="#b0bec5"/>',
        f'<text x="{_PICO_X + 65}" y="{_TOP - 16}" text-anchor="middle">USB</text>',
    ]
    used = {pin for _, pins in parts for _, pin in pins}
    for pin in range(1, 41):
        x, y = place_of(pin)
        inside, anchor = (x + 8, "start") if pin <= 20 else (x - 8, "end")
        bold = ' font-weight="bold"' if pin in used else ' opacity="0.65"'
        said.append(f'<circle cx="{x}" cy="{y}" r="4" fill="#ffd54f"/>')
        said.append(
            f'<text x="{inside}" y="{y + 4}" fill="#ffffff" text-anchor="{anchor}"{bold}>'
            f"{name_of(pin) + ' · ' + str(pin) if pin in used else name_of(pin)}</text>"
        )
    top, wires = {True: _TOP, False: _TOP}, 0
    for name, pins in parts:
        left = sum(pin <= 20 for _, pin in pins) * 2 >= len(pins)
        x = 40 if left else 520
        y = top[left]
        size = 26 + 22 * len(pins)
        top[left] += size + 40
        said.append(
            f'<rect x="{x}" y="{y}" width="120" height="{size}" rx="6" fill="#e3f2fd" '
            'stroke="#1565c0"/>'
        )
        said.append(f'<text x="{x + 60}" y="{y + 16}" text-anchor="middle">{name}</text>')
        for k, (label, pin) in enumerate(pins):
            px, py = x + (120 if left else 0), y + 34 + 22 * k
            tx, ty = place_of(pin)
            ink = _COLOURS.get(name_of(pin), _OTHERS[pin % len(_OTHERS)])
            bend = px + (1 if left else -1) * (14 + 11 * wires)
            wires += 1
            way = f"H{bend} V{ty} H{tx}"
            if left and pin > 20:  # around the Pico's end, not across it
                way = f"H{bend} V{_TOP - 38 - 6 * k} H{tx + 20 + 8 * k} V{ty} H{tx}"
            said.append(
                f'<path d="M{px} {py} {way}" fill="none" stroke="{ink}" stroke-width="2.5"/>'
            )
            at, anchor = (px - 6, "end") if left else (px + 6, "start")
            said.append(f'<text x="{at}" y="{py + 4}" text-anchor="{anchor}">{label}</text>')
    return "\n".join([*said, "</svg>"]) + "\n"


if __name__ == "__main__":
    for place, parts in PICTURES.items():
        path = ROOT / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(picture(parts), encoding="utf-8")
