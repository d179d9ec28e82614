"""What the tests of reproductions start with."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

NOWHERE = "http://127.0.0.1:9"  # where no OpenML answers


@pytest.fixture(scope="module")
def without_java() -> Iterator[None]:
    """River's learners, which start faster."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", "")
        patch.delenv("JAVA_HOME", raising=False)
        patch.setenv("MICROSHRUB_OPENML", NOWHERE)
        yield
