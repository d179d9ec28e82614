"""A regressor as a header for C99 and C++ that forecasts and learns, bit for bit.

Its kernels are translated; what the Forecaster, the target's unit and the interval do around them
(firmware's forecaster.py and target.py) is written here in C.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..models.model_files import OpenModel
from ..streams.units import MISSING
from . import c, c_text
from .c_numbers_code import INTERVAL, NO_INTERVAL, TAKE_AHEAD, TAKE_NOW, TARGET

_KERNELS = {
    "ENCODE": c.ENCODE,
    "LIMITED": ("quantizer", "limited"),
    "CODE": ("target", "encode"),
    "VALUE": ("target", "decode"),
    "ARRANGE": ("forecast_rows", "arrange"),
}
_AHEAD = {
    "KEEP": ("forecast_rows", "keep"),
    "COMPARE": ("seasons", "compare"),
    "JUDGE": ("outlook", "judge"),
    "SEASONS": ("outlook", "ask_seasons"),
    "FORESEE": ("outlook", "foresee"),
}
_INTERVAL = {"FOLLOW": ("interval", "follow")}
_HEAD = """\

   int32_t microshrub_take(const int32_t *raw) takes a sample of all columns: it learns what the
   sample tells, and returns what it predicts of raw[{column}], {name}{when}.
   microshrub_half is then half the width of the interval around that, or -1 without one. A
   missing value is MICROSHRUB_MISSING; where it is that of the target, nothing is learned. What
   this does is what take() of a Forecaster does that has just begun with the model;
   microshrub_crc32() of the state is the model's state_crc32().
"""


def exported(model: OpenModel) -> tuple[bytes, str]:
    """The header, and what to know of it. Raises UserError if the learner has no translation."""
    learner, forecaster = model.learner, model.forecaster
    places = _KERNELS | {"PREDICT": c.place(learner._predict), "LEARN": c.place(learner._learn)}
    places |= (_AHEAD if forecaster.horizon else {}) | (_INTERVAL if forecaster.interval else {})
    ahead = f", {forecaster.horizon} samples later" if forecaster.horizon else " of this sample"
    name = c_text.comment(model.file.feature_names[forecaster.column])
    head = _HEAD.format(column=forecaster.column, name=name, when=ahead)
    words = {word: c.called(place) for word, place in places.items()}
    words["TABLE"] = "microshrub_table"
    code = TARGET + (INTERVAL if forecaster.interval else NO_INTERVAL)
    code += TAKE_AHEAD if forecaster.horizon else TAKE_NOW
    text = "".join(
        (
            f"/* {c_text.described(model.file)}; it learns on.\n{head}\n",
            "\n".join(c_text.names(model.file)) + "\n",
            c.opening(_sizes(model)),
            c.kernels(model, list(places.values())),
            "\n".join(_state(model)) + "\n",
            c.filled(code, words) + c.CRC32 + c.END,
        )
    )
    return text.encode(), c.LOST


def _sizes(model: OpenModel) -> str:
    forecaster = model.forecaster
    return (
        f"#define MICROSHRUB_COLUMNS {forecaster.columns}\n"
        f"#define MICROSHRUB_TARGET {forecaster.column}\n"
        f"#define MICROSHRUB_HORIZON {forecaster.horizon}\n"
        f"#define MICROSHRUB_FEATURES {model.learner.features}\n"
        f"#define MICROSHRUB_MISSING ({MISSING}L)\n"
    )


def _state(model: OpenModel) -> Iterator[str]:
    forecaster = model.forecaster
    parts = [model.quantizer, model.learner, forecaster.target, forecaster]
    parts += [part for part in (forecaster.outlook, forecaster.interval) if part]
    waiting = ("forecaster.rows", "forecaster.predicted", "forecaster.halves")
    state = c.State(model, *parts)
    yield from state.buffers(without=() if forecaster.horizon else waiting)
    yield "static int32_t microshrub_half = -1;"
    yield from state.tables()
    if forecaster.outlook:
        yield from state.table(forecaster.outlook._addresses, "outlook")
