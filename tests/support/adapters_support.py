"""What tests of the adapters share."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_warning() -> Iterator[None]:
    """Raise what is warned of."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@contextmanager
def warnings_of() -> Iterator[list[warnings.WarningMessage]]:
    """All that is warned of."""
    with warnings.catch_warnings(record=True) as records:
        warnings.simplefilter("always")
        yield records
