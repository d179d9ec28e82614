"""Helpers for the tests of the adapters."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_warning() -> Iterator[None]:
    """Raise every warning as an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@contextmanager
def warnings_of() -> Iterator[list[warnings.WarningMessage]]:
    """Record all warnings."""
    with warnings.catch_warnings(record=True) as records:
        warnings.simplefilter("always")
        yield records
