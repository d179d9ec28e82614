"""A regressor as a header for C99 and C++ that forecasts and learns, bit for bit.

It contains the learner's kernels and the kernel that runs a Forecaster over rows (firmware's
forecast_runs.py), translated.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..library import loader
from ..streams.units import MISSING
from . import c, c_text
from .model_files import OpenModel

_HEAD = """\

   int32_t microshrub_take(const int32_t *raw) takes a sample of all columns: it learns what the
   sample tells, and returns what it predicts of raw[{column}], {name}{when}.
   microshrub_half is then half the width of the interval around that, or -1 without one. A
   missing value is MICROSHRUB_MISSING; where it is that of the target, nothing is learned. What
   this does is what take() of a Forecaster does that has just begun with the model;
   microshrub_crc32() of the state is the model's state_crc32().
"""
_TAKE = """
static inline int32_t microshrub_take(const int32_t *raw)
{
    int32_t predicted;
    RUN(LEARN, PREDICT, microshrub_table, LEARNED, microshrub_forecaster_codes, microshrub_parts,
        CERTAIN, (void *)raw, 1, &predicted, &microshrub_half);
    return predicted;
}
"""


def exported(model: OpenModel) -> tuple[bytes, str]:
    """Return a header and a note on its use. Raises UserError if the translation fails."""
    learner, forecaster = model.learner, model.forecaster
    runs = loader.load("python").forecast_runs.ForecastRuns(forecaster)
    kernels = {"PREDICT": learner._predict, "LEARN": learner._learn, "RUN": runs._run}
    places = {word: c.place(kernel) for word, kernel in kernels.items()}
    ahead = f", {forecaster.horizon} samples later" if forecaster.horizon else " of this sample"
    name = c_text.comment(model.file.feature_names[forecaster.column])
    head = _HEAD.format(column=forecaster.column, name=name, when=ahead)
    words = {word: c.called(place) for word, place in places.items()}
    words["LEARNED"] = f"microshrub_forecaster_{'rows' if forecaster.horizon else 'codes'}"
    words["CERTAIN"] = str(runs._certain)
    code = (
        c.opening(_sizes(model)),
        c.kernels(model, list(places.values())),
        "\n".join(_state(model, runs._parts)) + "\n",
        c.filled(_TAKE, words) + c.CRC32,
    )
    return c.header(model, head, code), c.LOST


def _sizes(model: OpenModel) -> str:
    forecaster = model.forecaster
    return (
        f"#define MICROSHRUB_COLUMNS {forecaster.columns}\n"
        f"#define MICROSHRUB_TARGET {forecaster.column}\n"
        f"#define MICROSHRUB_HORIZON {forecaster.horizon}\n"
        f"#define MICROSHRUB_FEATURES {model.learner.features}\n"
        f"#define MICROSHRUB_MISSING ({MISSING}L)\n"
    )


def _state(model: OpenModel, table: tuple[Any, ...]) -> Iterator[str]:
    forecaster = model.forecaster
    parts = [model.quantizer, model.learner, *forecaster.parts[2:]]
    waiting = ("forecaster.rows", "forecaster.predicted", "forecaster.halves")
    state = c.State(model, *parts)
    yield from state.buffers(without=() if forecaster.horizon else waiting)
    yield "static int32_t microshrub_half = -1;"
    yield from state.tables()
    yield from state.table(table, "parts")
