"""The state that a learner holds outside of its buffers: attributes, class and module."""

from __future__ import annotations

import copy
import sys
from array import array
from collections.abc import Iterator
from typing import Any

_PLAIN = (int, float, str, bytes, bytearray, array, tuple, list, dict, set, type(None))
_OF_THE_BASE = ("_row",)  # the row that was checked last: it is looked at only to be known again


def parts(learner: Any) -> dict[str, Any]:
    """Copies of what could be a state, by its name in the source; a buffer is itself in them."""
    kept = {id(buffer): buffer for _, _, buffer in learner.buffers()}  # they are not copied
    return {
        name: copy.deepcopy(value, dict(kept))
        for name, value in _named(learner)
        if isinstance(value, _PLAIN)
    }


def _named(learner: Any) -> Iterator[tuple[str, Any]]:
    learner_class = type(learner)
    module = sys.modules[learner_class.__module__]
    for name, value in vars(learner).items():
        if name not in _OF_THE_BASE:
            yield f"self.{name}", value
    for name, value in vars(learner_class).items():
        if not name.startswith("__"):
            yield f"{learner_class.__name__}.{name}", value
    for name, value in vars(module).items():
        if not name.startswith("__"):
            yield name, value
