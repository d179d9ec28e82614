"""How long a board, or another program, may be silent until it is taken for gone.

The environment variable MICROSHRUB_PATIENCE is the least, in seconds: on a busy PC what is
waited for comes later than it usually does.
"""

from __future__ import annotations

import math
import os

from .errors import UserError

VARIABLE = "MICROSHRUB_PATIENCE"


def patience(seconds: float) -> float:
    """So many seconds, or those of the variable if they are more. Raises UserError."""
    text = os.environ.get(VARIABLE) or "0"
    try:
        least = float(text)
    except ValueError:
        least = math.nan
    if not 0 <= least < math.inf:
        raise UserError(f"{VARIABLE} has to be a number of seconds, not {text!r}")
    return max(seconds, least)
