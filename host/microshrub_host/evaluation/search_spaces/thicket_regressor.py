"""Where `tune` searches for a ThicketRegressor: its size, as for a Thicket."""

from __future__ import annotations

from .thicket import FIRST, space

__all__ = ["FIRST", "space"]
