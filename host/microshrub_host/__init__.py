"""The PC side of microshrub: streams, engines, evaluation, RAM budgets, tuning.

What a program or a notebook uses is exported here by name, and imported when it is first named;
the classifiers for River and scikit-learn are in `adapters.river_adapter` and
`adapters.sklearn_adapter`. All else is private: it may change without notice.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .api import budget, load_model, parity, save_model, simulate, tune
    from .base.errors import UserError
    from .engines.learners import register
    from .engines.loader import load
    from .streams.open_stream import open_stream
    from .streams.stream import Stream

__all__ = [
    "Stream",
    "UserError",
    "budget",
    "load",
    "load_model",
    "open_stream",
    "parity",
    "register",
    "save_model",
    "simulate",
    "tune",
]

_HOMES = {
    "Stream": "streams.stream",
    "UserError": "base.errors",
    "budget": "api",
    "load": "engines.loader",
    "load_model": "api",
    "open_stream": "streams.open_stream",
    "parity": "api",
    "register": "engines.learners",
    "save_model": "api",
    "simulate": "api",
    "tune": "api",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
