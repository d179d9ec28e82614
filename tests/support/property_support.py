"""The number of examples of each property test: few by default, all in `make ci`."""

from __future__ import annotations

from hypothesis import settings

LARGE = 100  # examples of the large profiles


def examples(number: int) -> int:
    """Return that number with a large profile, and a proportional share with a smaller one."""
    return max(number * min(settings.default.max_examples, LARGE) // LARGE, 3)
