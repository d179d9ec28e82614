"""How many examples a property is tried with: few by default, all in `make ci`."""

from __future__ import annotations

from hypothesis import settings

LARGE = 100  # examples of the large profiles


def examples(number: int) -> int:
    """That number with a large profile, and the same share of it as of others with the small."""
    return max(number * min(settings.default.max_examples, LARGE) // LARGE, 3)
