"""The learners as estimators: `river_adapter` for River, `sklearn_adapter` for scikit-learn."""

from . import river_adapter, sklearn_adapter

__all__ = ["river_adapter", "sklearn_adapter"]
