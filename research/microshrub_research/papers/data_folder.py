"""The folder of the user's own data sets, in which the experiments look for files by name."""

from __future__ import annotations

import os
from pathlib import Path

VARIABLE = "MICROSHRUB_DATA"


def data_folder(given: Path | None = None) -> Path | None:
    """Return the given folder, or the environment variable's; None without either."""
    named = os.environ.get(VARIABLE)
    return given or (Path(named) if named else None)
