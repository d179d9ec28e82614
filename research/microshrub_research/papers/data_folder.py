"""The folder of the user's own data sets, which the experiments look for by their names."""

from __future__ import annotations

import os
from pathlib import Path

VARIABLE = "MICROSHRUB_DATA"


def data_folder(given: Path | None = None) -> Path | None:
    """The folder that was given, or else that of the environment variable; None without either."""
    named = os.environ.get(VARIABLE)
    return given or (Path(named) if named else None)
