"""Fixtures for tests of reproductions."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

NOWHERE = "http://127.0.0.1:9"  # no OpenML answers here


@pytest.fixture(scope="module")
def without_java() -> Iterator[None]:
    """A machine without Java: River's learners start faster."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", "")
        patch.delenv("JAVA_HOME", raising=False)
        patch.setenv("MICROSHRUB_OPENML", NOWHERE)
        yield
