"""Projects of the page: a model's file that also contains its recordings.

After the parts of a model's file it has RECORDING, the samples as CSV with the class last, and
GESTURES, which only the page reads.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

RECORDING, GESTURES = PARTS = ("recording.csv", "gestures.json")
_CONFIG = "config.json"
_MOST_BYTES = 1 << 28  # in a part
_BEGIN = b"PK\x03\x04"
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, KeyError, ValueError, TypeError)


@dataclass(frozen=True)
class Recording:
    """The samples in a project, and all its classes, in the order of their numbers.

    units has, by feature name, the offset and digits with which the page learned a feature.
    """

    csv: bytes
    classes: tuple[str, ...]
    units: dict[str, tuple[float, int]]


def recording_in(path: Path) -> Recording | None:
    """Return a project's recording; None for any other file, or a damaged one.

    Raises OSError if the file cannot be read.
    """
    with path.open("rb") as file:
        if file.read(len(_BEGIN)) != _BEGIN:
            return None
        try:
            with zipfile.ZipFile(file) as archive:
                if not set(PARTS) <= set(archive.namelist()):
                    return None
                if any(info.file_size > _MOST_BYTES for info in archive.infolist()):
                    return None
                config = json.loads(archive.read(_CONFIG))
                fields = (config.get(name, ()) for name in ("feature_names", "offset", "digits"))
                units = {
                    str(name): (float(offset), int(digits))
                    for name, offset, digits in zip(*fields, strict=True)
                }
                classes = tuple(map(str, config["class_names"]))
                return Recording(archive.read(RECORDING), classes, units)
        except (*_BROKEN, NotImplementedError, RuntimeError, RecursionError):
            return None
