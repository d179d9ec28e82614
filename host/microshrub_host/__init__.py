"""The PC side of microshrub: streams, engines, evaluation, RAM budgets, tuning.

What a program or a notebook uses is exported here by name, and imported when it is first named:
functions, what they return, and the parts of that. The classifiers and regressors for River and
scikit-learn are in `adapters.river_adapter` and `adapters.sklearn_adapter`. All else is private:
it may change without notice.

Arguments always come in the same order: stream, model, board, then the file or folder.
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
    from .beside.anomaly import Anomaly, AnomalyRun
    from .beside.companion import BesideRun, BoardRoom, Companion, Followed, Option
    from .beside.guarantee import Guarantee, GuaranteeRun
    from .beside.label_budget import AskingRun, LabelBudget
    from .beside.registry import register_companion
    from .beside.spare_classes import SpareClasses
    from .beside.spare_run import Naming, SpareRun
    from .beside.watcher import Watcher
    from .boards.ram_budget import Budget, Kernels, Part, Shortage
    from .engines.interface import States
    from .evaluation.by_class import ByClass
    from .evaluation.classes import Point, Result, WithoutLabels
    from .evaluation.parity import Difference
    from .evaluation.regression import Errors, IntervalResult, NumberResult
    from .library.learners import register
    from .library.loader import load
    from .models.model_files import ModelFile, OpenModel
    from .streams.number_streams import NumberStream
    from .streams.open_numbers import open_numbers
    from .streams.open_stream import open_stream
    from .streams.stream import Extraction, Stream
    from .streams.units import Scale
    from .tuning.report import TuningReport
    from .tuning.splits import Scores
    from .tuning.study import FinishedTrial
    from .tuning.trials import Candidate, Size

__all__ = [
    "Anomaly",
    "AnomalyRun",
    "AskingRun",
    "BesideRun",
    "BoardRoom",
    "Budget",
    "ByClass",
    "Candidate",
    "Companion",
    "Difference",
    "Errors",
    "Extraction",
    "FinishedTrial",
    "Followed",
    "Guarantee",
    "GuaranteeRun",
    "IntervalResult",
    "Kernels",
    "LabelBudget",
    "ModelFile",
    "Naming",
    "NumberResult",
    "NumberStream",
    "OpenModel",
    "Option",
    "Part",
    "Point",
    "Result",
    "Scale",
    "Scores",
    "Shortage",
    "Size",
    "SpareClasses",
    "SpareRun",
    "States",
    "Stream",
    "TuningReport",
    "UserError",
    "Watcher",
    "WithoutLabels",
    "budget",
    "extract_features",
    "load",
    "load_model",
    "open_numbers",
    "open_stream",
    "parity",
    "register",
    "register_companion",
    "save_model",
    "simulate",
    "tune",
]

_NAMES = {  # by their modules
    "api.features": "extract_features",
    "api.models": "load_model save_model",
    "api.planning": "budget tune",
    "api.runs": "parity simulate",
    "base.errors": "UserError",
    "beside.anomaly": "Anomaly AnomalyRun",
    "beside.companion": "BesideRun BoardRoom Companion Followed Option",
    "beside.guarantee": "Guarantee GuaranteeRun",
    "beside.label_budget": "AskingRun LabelBudget",
    "beside.registry": "register_companion",
    "beside.spare_classes": "SpareClasses",
    "beside.spare_run": "Naming SpareRun",
    "beside.watcher": "Watcher",
    "boards.ram_budget": "Budget Kernels Part Shortage",
    "engines.interface": "States",
    "evaluation.by_class": "ByClass",
    "evaluation.classes": "Point Result WithoutLabels",
    "evaluation.parity": "Difference",
    "evaluation.regression": "Errors IntervalResult NumberResult",
    "library.learners": "register",
    "library.loader": "load",
    "models.model_files": "ModelFile OpenModel",
    "streams.number_streams": "NumberStream",
    "streams.open_numbers": "open_numbers",
    "streams.open_stream": "open_stream",
    "streams.stream": "Extraction Stream",
    "streams.units": "Scale",
    "tuning.report": "TuningReport",
    "tuning.splits": "Scores",
    "tuning.study": "FinishedTrial",
    "tuning.trials": "Candidate Size",
}

__getattr__, __dir__ = lazy_exports(__name__, _NAMES)
