"""Names from a device's config.json: classes, features, units, version.

The device sends that file over the link piece by piece, and the CRC32 in its welcome tells whether
all of it came. A program from before there was such a request answers that it does not know it;
classes and features then go by their numbers.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from microshrub_host.library import library_files

from .client import HostLink
from .link_errors import RefusedError
from .message_checks import fields_of
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
            return int(offset + raw * 10**-digits)
        return f"{offset + Decimal(raw).scaleb(-digits):f}"


def numbers_only(welcome: Welcome) -> BoardNames:
    """The names where nobody tells any: 0, 1, ... and x0, x1, ..."""
    return BoardNames(
        tuple(map(str, range(welcome.classes))),
        tuple(f"x{f}" for f in range(welcome.features)),
        ((0, 0),) * welcome.features,
    )


def names_of(config: dict[str, Any], welcome: Welcome) -> BoardNames:
    """The names in the fields of a device's config.json; numbers where it has none."""
    plain = numbers_only(welcome)
    return BoardNames(
        tuple(config.get("class_names", plain.classes)),
        tuple(config.get("feature_names", plain.features)),
        tuple(config.get("units", plain.units)),
    )


def version_note(config: dict[str, Any]) -> str:
    """What to do if the device's program is not of this microshrub; empty if it is."""
    theirs, ours = config.get("program"), library_files.version()
    if theirs == ours:
        return ""
    theirs = f"microshrub {theirs}" if theirs else "an older microshrub"
    return (
        f"Note: the board's program was built by {theirs}, and this PC has {ours}: build and "
        "flash it again, and both are the same."
    )


def read_configuration(link: HostLink, welcome: Welcome) -> dict[str, Any]:
    """The fields of the device's config.json, as checks.fields_of() gives them.

    Empty if it does not send it. Raises LinkError.
    """
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
    return fields_of(text, welcome)
