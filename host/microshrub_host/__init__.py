"""The PC side of microshrub: streams, engines, evaluation, RAM budgets, tuning.

What a program or a notebook uses is exported here by name, and imported when it is first named;
the classifiers and regressors for River and scikit-learn are in `adapters.river_adapter` and
`adapters.sklearn_adapter`. All else is private: it may change without notice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .base.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from .api.features import extract_features
    from .api.models import load_model, save_model
    from .api.planning import budget, tune
    from .api.runs import parity, simulate
    from .base.errors import UserError
    from .engines.learners import register
    from .engines.loader import load
    from .streams.number_streams import NumberStream
    from .streams.open_numbers import open_numbers
    from .streams.open_stream import open_stream
    from .streams.stream import Stream

__all__ = [
    "NumberStream",
    "Stream",
    "UserError",
    "budget",
    "extract_features",
    "load",
    "load_model",
    "open_numbers",
    "open_stream",
    "parity",
    "register",
    "save_model",
    "simulate",
    "tune",
]

_HOMES = {
    "NumberStream": "streams.number_streams",
    "Stream": "streams.stream",
    "UserError": "base.errors",
    "budget": "api.planning",
    "extract_features": "api.features",
    "load": "engines.loader",
    "load_model": "api.models",
    "open_numbers": "streams.open_numbers",
    "open_stream": "streams.open_stream",
    "parity": "api.runs",
    "register": "engines.learners",
    "save_model": "api.models",
    "simulate": "api.runs",
    "tune": "api.planning",
}

__getattr__, __dir__ = lazy_exports(__name__, _HOMES)
