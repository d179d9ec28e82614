"""Names from a device's config.json: classes, features, units, version.

The device sends the file over the link in pieces, and the CRC32 in its welcome shows whether the
file is complete. A program older than the request answers that it does not know the request;
classes and features then have numbers as names.
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

_MOST = 1 << 16  # bytes of a text that a PC can request


@dataclass(frozen=True)
class BoardNames:
    """Names by number, and for each feature (offset, digits): raw = (value - offset) * 10**digits.

    The tuples have the lengths that the device's welcome states.
    """

    classes: tuple[str, ...]
    features: tuple[str, ...]
    units: tuple[tuple[int, int], ...]

    def value(self, feature: int, raw: int) -> int | str:
        """Return a raw value in the feature's unit, exactly: an integer, or decimals as text."""
        offset, digits = self.units[feature]
        if digits <= 0:
            return int(offset + raw * 10**-digits)
        return f"{offset + Decimal(raw).scaleb(-digits):f}"


def numbers_only(welcome: Welcome) -> BoardNames:
    """Return the names for a device without names: 0, 1, ... and x0, x1, ..."""
    return BoardNames(
        tuple(map(str, range(welcome.classes))),
        tuple(f"x{f}" for f in range(welcome.features)),
        ((0, 0),) * welcome.features,
    )


def names_of(config: dict[str, Any], welcome: Welcome) -> BoardNames:
    """Return the names in the fields of a device's config.json; numbers for missing names."""
    plain = numbers_only(welcome)
    return BoardNames(
        tuple(config.get("class_names", plain.classes)),
        tuple(config.get("feature_names", plain.features)),
        tuple(config.get("units", plain.units)),
    )


def version_note(config: dict[str, Any]) -> str:
    """Return advice if another version of microshrub built the device's program, else ""."""
    theirs, ours = config.get("program"), library_files.version()
    if theirs == ours:
        return ""
    theirs = f"microshrub {theirs}" if theirs else "an older microshrub"
    return (
        f"Note: the board's program was built by {theirs}, and this PC has {ours}: build and "
        "flash it again, and both are the same."
    )


def read_configuration(link: HostLink, welcome: Welcome) -> dict[str, Any]:
    """Read the fields of the device's config.json, as message_checks.fields_of() returns them.

    Empty if the device does not send the file. Raises LinkError.
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
