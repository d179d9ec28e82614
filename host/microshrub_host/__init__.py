"""The PC side of microshrub: streams, engines, evaluation, RAM budgets, tuning.

This module exports the public names for programs and notebooks: functions, the objects that they
return, and the parts of these objects. A name is imported when it is first used. The classifiers
and regressors for River and scikit-learn are in `api.river_adapter` and `api.sklearn_adapter`.
Everything else is private and may change without notice.

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
    from .boards.ram_budget import Budget, Kernels, Part, Shortage
    from .evaluation.by_class import ByClass
    from .evaluation.classes import Point, Result
    from .evaluation.holdout_scores import Scores
    from .evaluation.parity import Difference
    from .evaluation.regression import Errors, IntervalResult, NumberResult
    from .evaluation.study import FinishedTrial
    from .evaluation.trials import Candidate, Size
    from .evaluation.unseen import Holdout, Unseen
    from .library.learners import register
    from .library.loader import load
    from .models.model_files import ModelFile, OpenModel
    from .reports.tuning_report import TuningReport
    from .simulation.anomaly import Anomaly, AnomalyRun
    from .simulation.companion import (
        BoardObjects,
        Companion,
        CompanionReport,
        CompanionRun,
        Option,
    )
    from .simulation.companion_registry import register_companion
    from .simulation.engine_interface import States
    from .simulation.guarantee import Guarantee, GuaranteeRun
    from .simulation.label_budget import LabelBudget, LabelBudgetRun
    from .simulation.spare_classes import SpareClasses
    from .simulation.spare_run import Naming, SpareRun
    from .simulation.watcher import Watcher
    from .streams.open_regression_stream import open_numbers
    from .streams.open_stream import open_stream
    from .streams.regression_streams import NumberStream
    from .streams.stream import Extraction, Stream
    from .streams.units import Scale

__all__ = [
    "Anomaly",
    "AnomalyRun",
    "BoardObjects",
    "Budget",
    "ByClass",
    "Candidate",
    "Companion",
    "CompanionReport",
    "CompanionRun",
    "Difference",
    "Errors",
    "Extraction",
    "FinishedTrial",
    "Guarantee",
    "GuaranteeRun",
    "Holdout",
    "IntervalResult",
    "Kernels",
    "LabelBudget",
    "LabelBudgetRun",
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
    "Unseen",
    "UserError",
    "Watcher",
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

_NAMES = {  # the exported names, by module
    "api.features": "extract_features",
    "api.models": "load_model save_model",
    "api.planning": "budget tune",
    "api.runs": "parity simulate",
    "base.errors": "UserError",
    "simulation.anomaly": "Anomaly AnomalyRun",
    "simulation.companion": "BoardObjects CompanionRun Companion CompanionReport Option",
    "simulation.guarantee": "Guarantee GuaranteeRun",
    "simulation.label_budget": "LabelBudgetRun LabelBudget",
    "simulation.companion_registry": "register_companion",
    "simulation.spare_classes": "SpareClasses",
    "simulation.spare_run": "Naming SpareRun",
    "simulation.watcher": "Watcher",
    "boards.ram_budget": "Budget Kernels Part Shortage",
    "simulation.engine_interface": "States",
    "evaluation.by_class": "ByClass",
    "evaluation.classes": "Point Result",
    "evaluation.parity": "Difference",
    "evaluation.regression": "Errors IntervalResult NumberResult",
    "evaluation.unseen": "Holdout Unseen",
    "library.learners": "register",
    "library.loader": "load",
    "models.model_files": "ModelFile OpenModel",
    "streams.regression_streams": "NumberStream",
    "streams.open_regression_stream": "open_numbers",
    "streams.open_stream": "open_stream",
    "streams.stream": "Extraction Stream",
    "streams.units": "Scale",
    "reports.tuning_report": "TuningReport",
    "evaluation.holdout_scores": "Scores",
    "evaluation.study": "FinishedTrial",
    "evaluation.trials": "Candidate Size",
}

__getattr__, __dir__ = lazy_exports(__name__, _NAMES)
