"""The parts of a C header for a model whose ranges grow and shrink."""

from __future__ import annotations

from ..library import loader
from .model_files import OpenModel

_HOME = "range_growth"
_KERNELS = (
    "watch",
    "next_due",
    "shrinks",
    "forget_close",
    "plan",
    "settle",
    "encode_row",
    "count_row",
)
ROOTS = [(_HOME, name) for name in _KERNELS]
TABLE = "ranges"  # table of the addresses of the quantizer's buffers

# The same for ranges that grow and for fixed ranges
LEARN = """
static inline int microshrub_learn(const int32_t *raw, int label)
{
    if (label < 0 || label >= MICROSHRUB_CLASSES)
        return -1;
    microshrub_encode(raw);
    return LEARN(TABLE, microshrub_codes, 0, label);
}

"""

FUNCTIONS = (
    """
static inline void microshrub_encode(const int32_t *raw)
{
    int32_t *counts = microshrub_growing_counts, again;
    int32_t f = WATCH(microshrub_ranges, (void *)raw, 0);
    while (f >= 0) {
        if (SHRINKS(microshrub_ranges, f) >= 0 && microshrub_store_state[RUN] >= ONE_CLASS)
            FORGET_CLOSE(microshrub_ranges, f);
        else do {
            again = PLAN(microshrub_ranges, f);
            MOVE(TABLE, f, counts[BITS], counts[DOUBLINGS], counts[STEPS]);
            SETTLE(microshrub_ranges, f);
        } while (again);
        f = counts[SEEN] < EARLY ? NEXT_DUE(microshrub_ranges) : -1;
    }
    ENCODE_ROW(microshrub_ranges, (void *)raw, 0, microshrub_codes);
    COUNT_ROW(microshrub_ranges);
}

static inline int microshrub_predict(const int32_t *raw)
{
    ENCODE_ROW(microshrub_ranges, (void *)raw, 0, microshrub_codes);
    return PREDICT(TABLE, microshrub_codes, 0);
}
"""
    + LEARN
)


def grows(model: OpenModel) -> bool:
    """Whether the model's ranges grow."""
    return isinstance(model.quantizer, loader.load("python").GrowingQuantizer)


def words() -> dict[str, str]:
    """Return the constants in FUNCTIONS, such as indices of state words, by name."""
    library = loader.load("python")
    growth, store = library.range_growth, library.thicket.sample_store
    numbers = {
        name: getattr(growth, f"_G_{name}") for name in ("SEEN", "BITS", "DOUBLINGS", "STEPS")
    }
    numbers |= {"EARLY": growth._EARLY, "ONE_CLASS": library.growing_ranges._ONE_CLASS}
    numbers |= {"RUN": store._W_RUN}
    return {name: str(number) for name, number in numbers.items()}
