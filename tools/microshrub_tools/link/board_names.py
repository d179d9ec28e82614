"""What a device's classes and features are called, and in which units it counts.

The names stand in the device's config.json, which it sends over the link piece by piece. The CRC32
that it was welcomed with tells whether all of it came. A program from before there was such a
request answers that it does not know it, and classes and features then go by their numbers.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from .client import HostLink, RefusedError
from .messages import Piece, Welcome, configuration

_MOST = 1 << 16  # bytes of a text that can be asked for


@dataclass(frozen=True)
class BoardNames:
    """Names by number, and for each feature (offset, digits): raw = (value - offset) * 10**digits.

    All of them have the lengths that the device's welcome told.
    """

    classes: tuple[str, ...]
    features: tuple[str, ...]
    units: tuple[tuple[int, int], ...]

    def value(self, feature: int, raw: int) -> int | str:
        """A raw value in the feature's unit, exactly: a whole number, or decimals as text."""
        offset, digits = self.units[feature]
        if digits <= 0:
            return offset + raw * 10**-digits
        return f"{offset + Decimal(raw).scaleb(-digits):f}"


def numbers_only(welcome: Welcome) -> BoardNames:
    """The names where nobody tells any: 0, 1, ... and x0, x1, ..."""
    return BoardNames(
        tuple(map(str, range(welcome.classes))),
        tuple(f"x{f}" for f in range(welcome.features)),
        ((0, 0),) * welcome.features,
    )


def ask_names(link: HostLink, welcome: Welcome) -> BoardNames:
    """The names of the device that sent this welcome; numbers if it does not tell. LinkError."""
    plain = numbers_only(welcome)
    config = read_configuration(link, welcome)
    units = _list(config.get("units"), welcome.features)
    return BoardNames(
        tuple(_texts(config.get("class_names"), plain.classes)),
        tuple(_texts(config.get("feature_names"), plain.features)),
        tuple(map(_unit, units)) if units else plain.units,
    )


def read_configuration(link: HostLink, welcome: Welcome) -> dict[str, Any]:
    """The fields of the device's config.json; empty if it does not send it. Raises LinkError."""
    text = b""
    try:
        while len(text) < _MOST:
            answer = link.ask(configuration(len(text)))
            if not isinstance(answer, Piece) or not answer.data:
                break
            text += answer.data
    except RefusedError:
        return {}
    if zlib.crc32(text) != welcome.configuration_hash:
        return {}
    try:
        fields = json.loads(text)
    except ValueError:
        return {}
    return fields if isinstance(fields, dict) else {}


def _list(value: Any, length: int) -> list[Any]:
    return value if isinstance(value, list) and len(value) == length else []


def _texts(value: Any, numbers: Sequence[str]) -> Sequence[str]:
    texts = _list(value, len(numbers))
    return texts if texts and all(isinstance(text, str) for text in texts) else numbers


def _unit(pair: Any) -> tuple[int, int]:
    offset, digits = pair if isinstance(pair, list) and len(pair) == 2 else (0, 0)
    right = type(offset) is int and type(digits) is int and abs(digits) <= 400
    return (offset, digits) if right else (0, 0)
