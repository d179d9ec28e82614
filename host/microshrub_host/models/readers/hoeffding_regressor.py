"""Reader for HoeffdingRegressor trees, laid out as in firmware's regression/hoeffding.py."""

from __future__ import annotations

from ...base.text import printable
from ...streams.regression_streams import names_of_features
from ..forecasters import in_units
from ..model_files import OpenModel
from ..trees import Leaf, TreeReader
from .hoeffding import HoeffdingReader


class RegressorReader(HoeffdingReader):
    """Reads the tree of a HoeffdingRegressor, whose leaves predict the target, in its unit."""

    BUFFERS = "node"

    def __init__(self, model: OpenModel) -> None:
        TreeReader.__init__(self, model)
        place, lags = model.forecaster.column, model.forecaster.lags
        self.features = names_of_features(
            tuple(map(printable, model.file.feature_names)), place, lags
        )
        unit = self.units.pop(place)
        self.units += [unit] * lags

    def leaf(self, node: int) -> Leaf:
        code = (self.held["node.mean"][node] + 128) >> 8
        forecaster = self.model.forecaster
        mean = in_units(forecaster.target.value(code), self.model.file.scale, forecaster.column)
        return Leaf(-1, mean, place=node)


READER = RegressorReader
