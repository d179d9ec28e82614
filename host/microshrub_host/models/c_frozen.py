"""A frozen model as a C99 header: the device's codes, votes and predictions, without learning.

It has no floats and includes only stdint.h. The result of shifting a negative number right depends
on the compiler, so only non-negative numbers are shifted right.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..streams.units import MISSING
from . import c_text
from .frozen import Frozen, TreeTable
from .model_files import ModelFile
from .trees import Answer

_C_TYPES = ("uint8_t", "int16_t", "uint16_t", "int32_t")
_BITS = {"uint8_t": (0, 8), "int16_t": (1, 15), "uint16_t": (0, 16), "int32_t": (1, 31)}

# The code that does not depend on the model, as in firmware's quantizer.py, shrub/, leaf_votes.py
# and fixed.py
_QUANTIZER = """\
static uint16_t microshrub_code(int32_t v, int32_t span, int32_t shift, int32_t scale)
{
    int32_t tail = 8192, bits = 8, unit = shift + 9, top;
    uint32_t d;
    if (!scale) {
        tail = 32767;
        bits = 10;
        unit = 0;
    }
    if (v >= 0 && v <= span) {
        v = shift >= 0 ? v >> shift : v << -shift;
        return (uint16_t)(tail + ((v * scale) >> 14));
    }
    if (unit < 0)
        unit = 0;
    d = (uint32_t)(v < 0 ? -v : v - span) + ((uint32_t)1 << unit);
    for (top = unit; d >> top > 1; top++)
        ;
    d -= (uint32_t)1 << top;
    d = top > bits ? d >> (top - bits) : d << (bits - top);
    d += (uint32_t)(top - unit) << bits;
    return (uint16_t)(v < 0 ? tail - 1 - (int32_t)d : 65536 - tail + (int32_t)d);
}

static void microshrub_encode(const int32_t *raw)
{
    int f;
    for (f = 0; f < MICROSHRUB_FEATURES; f++) {
        int32_t v = raw[f];
        if (v == MICROSHRUB_MISSING)
            continue;
        if (v > 536870911L)
            v = 536870911L;
        if (v < -536870911L)
            v = -536870911L;
        microshrub_last[f] = microshrub_code(v - microshrub_low[f], microshrub_span[f],
                                             microshrub_shift[f], microshrub_scale[f]);
    }
}

"""

_DESCEND = """\
static int32_t microshrub_leaf(int tree)
{
    int32_t n = microshrub_root[tree];
    while (n >= 0)
        n = microshrub_child[2 * n + (microshrub_last[microshrub_feature[n]] >
                                      microshrub_threshold[n])];
    return -1 - n;
}

"""

_MOST = """\
static int microshrub_most(void)
{
    int c, best = 0;
    for (c = 1; c < MICROSHRUB_CLASSES; c++)
        if (microshrub_votes[c] > microshrub_votes[best])
            best = c;
    return best;
}

"""

_BAYES = """\
/* v / 2**bits, rounded down */
static int32_t microshrub_down(int32_t v, int bits)
{
    return v >= 0 ? v >> bits : -1 - ((-1 - v) >> bits);
}

/* log2(n) in Q14 */
static int32_t microshrub_log2(int32_t n)
{
    int top = 0;
    int32_t f, y;
    while (n >> top > 1)
        top++;
    f = (top > 15 ? n >> (top - 15) : n << (15 - top)) - 32768;
    y = microshrub_down(720 * f, 15) - 3110;
    y = microshrub_down(y * f, 15) + 6743;
    y = microshrub_down(y * f, 15) - 11588;
    y = microshrub_down(y * f, 15) + 23619;
    return ((int32_t)top << 14) + microshrub_down(y * f, 15);
}

/* exp(-x) in Q14 for x in Q16 */
static int32_t microshrub_exp_negative(int32_t x)
{
    int32_t y;
    x >>= 1;
    y = microshrub_down(419 * x, 15) - 2521;
    y = microshrub_down(y * x, 15) + 8120;
    y = microshrub_down(y * x, 15) - 16375;
    return microshrub_down(y * x, 15) + 16384;
}

static int microshrub_bayes(int32_t slot)
{
    const uint16_t *low = microshrub_bayes_low + slot * MICROSHRUB_FEATURES;
    const uint16_t *high = microshrub_bayes_high + slot * MICROSHRUB_FEATURES;
    const uint16_t *seen = microshrub_bayes_seen + slot * MICROSHRUB_CLASSES;
    const uint16_t *prior = microshrub_bayes_prior + slot * MICROSHRUB_CLASSES;
    const uint16_t *counts = microshrub_bayes_counts +
        slot * (int32_t)microshrub_first[MICROSHRUB_FEATURES] * MICROSHRUB_CLASSES;
    int32_t total = 0, top;
    int c, f, best;
    for (c = 0; c < MICROSHRUB_CLASSES; c++) {
        int32_t score = -536870912L;
        if (prior[c]) {
            score = microshrub_log2(prior[c]);
            for (f = 0; f < MICROSHRUB_FEATURES; f++) {
                int32_t bins = microshrub_first[f + 1] - microshrub_first[f];
                int32_t cell = ((int32_t)microshrub_last[f] - low[f]) * bins /
                    ((int32_t)high[f] - low[f] + 1) + microshrub_first[f];
                score += microshrub_log2((int32_t)counts[cell * MICROSHRUB_CLASSES + c] + 1) -
                    microshrub_log2((int32_t)seen[c] + bins);
            }
        }
        microshrub_votes[c] = score;
    }
    best = microshrub_most();
    top = microshrub_votes[best];
    for (c = 0; c < MICROSHRUB_CLASSES; c++) {
        int32_t d = top - microshrub_votes[c];
        microshrub_votes[c] = d >= 15 * 16384L ? 0 :
            microshrub_exp_negative(((d & 16383) * (int32_t)45426) >> 14) >> (d >> 14);
        total += microshrub_votes[c];
    }
    for (c = 0; c < MICROSHRUB_CLASSES; c++)
        microshrub_votes[c] = (microshrub_votes[c] << 14) / total * 1020;
    return best;
}

"""

_PREDICT = """\
static int microshrub_predict(const int32_t *raw)
{
    int tree, c;
    int32_t leaf = 0;
    for (c = 0; c < MICROSHRUB_CLASSES; c++)
        microshrub_votes[c] = 0;
    microshrub_encode(raw);
    for (tree = 0; tree < MICROSHRUB_TREES; tree++) {
        leaf = microshrub_leaf(tree);
        for (c = 0; c < MICROSHRUB_CLASSES; c++)
            microshrub_votes[c] +=
                microshrub_share[leaf * MICROSHRUB_CLASSES + c] * microshrub_factor[tree];
    }
    return @ANSWER@;
}
"""


def exported(model: Frozen) -> tuple[bytes, str]:
    """Return the header and a note for its user."""
    table = model.table()
    lines = [*_sizes(model), *_quantizer(model), *_trees(model, table)]
    code, answer = [_QUANTIZER, _DESCEND], "microshrub_label[leaf]"
    if not model.single or model.bayes:
        code.append(_MOST)
    if not model.single:
        answer = "microshrub_most()"
    if model.bayes:
        lines += _bayes(model, table)
        code.append(_BAYES)
        slot = "microshrub_slot[leaf]"
        answer = f"{slot} >= 0 ? microshrub_bayes({slot}) : {answer}"
    code.append(_PREDICT.replace("@ANSWER@", answer))
    text = "\n".join(lines) + "\n" + "".join(code)
    return c_text.header(_head(model.file), text), "Include it in one C file; it does not learn."


def _head(file: ModelFile) -> str:
    lines = [
        f"/* {c_text.described(file)}, frozen.",
        "",
        "   int microshrub_predict(const int32_t *raw) gives the class of a sample, and",
        "   microshrub_votes the votes for each class, as predict() of the model. A missing value",
        "   is MICROSHRUB_MISSING: the feature keeps its last code.",
        "",
        *c_text.names(file),
    ]
    return "\n".join(lines)


def _sizes(model: Frozen) -> list[str]:
    return [
        "#include <stdint.h>",
        "",
        f"#define MICROSHRUB_FEATURES {model.features}",
        f"#define MICROSHRUB_CLASSES {model.classes}",
        f"#define MICROSHRUB_TREES {len(model.trees)}",
        f"#define MICROSHRUB_MISSING ({MISSING}L)",
        "",
        "static int32_t microshrub_votes[MICROSHRUB_CLASSES];",
        "",
    ]


def _quantizer(model: Frozen) -> list[str]:
    held = {name: buffer for name, _, buffer in model.model.quantizer.buffers()}
    names = (("low", "int32_t"), ("span", "int32_t"), ("shift", "int32_t"), ("scale", "uint16_t"))
    lines = []
    for name, c_type in names:
        lines += _array(name, held[f"quantizer.{name}"], c_type)
    return lines + _array("last", held["quantizer.last"], "uint16_t", constant=False)


def _trees(model: Frozen, table: TreeTable) -> list[str]:
    answers = [model.of(leaf) for leaf in table.leaves]
    shares = [share for answer in answers for share in _shares(answer, model.classes)]
    children = [child for _, *pair in table.splits for child in pair]
    lines = _array("factor", model.factors, "int32_t")
    lines += _array("root", table.roots)
    lines += _array("feature", [split.feature for split, _, _ in table.splits], "uint8_t")
    lines += _array("threshold", [split.threshold for split, _, _ in table.splits], "uint16_t")
    lines += ["/* below and above; -1 - l is leaf l */", *_array("child", children)]
    lines += _array("share", shares)
    if model.single:
        lines += _array("label", [max(answer.label, 0) for answer in answers], "uint8_t")
    return lines


def _shares(answer: Answer, classes: int) -> Sequence[int]:
    return answer.shares or (0,) * classes


def _bayes(model: Frozen, table: TreeTable) -> list[str]:
    """Return the definitions of the naive Bayes statistics, for the leaves that use any."""
    slots = [model.of(leaf).slot for leaf in table.leaves]
    used = sorted({slot for slot in slots if slot >= 0})
    result = [model.reader.statistics(slot) for slot in used]
    lines = ["/* the statistics that a leaf's naive Bayes reads, or -1 */"]
    lines += _array("slot", [used.index(slot) if slot >= 0 else -1 for slot in slots], "int32_t")
    lines += _array("first", model.reader.bins(), "uint16_t")
    for name in ("low", "high", "counts", "seen", "prior"):
        entries = [entry for part in result for entry in getattr(part, name)]
        lines += _array(f"bayes_{name}", entries, "uint16_t")
    return lines


def _array(
    name: str, entries: Iterable[int], c_type: str | None = None, constant: bool = True
) -> list[str]:
    """Return an array's definition; without a type, with the narrowest one that fits."""
    numbers = list(entries) or [0]  # C has no empty arrays
    c_type = c_type or next(each for each in _C_TYPES if all(_fits(n, each) for n in numbers))
    return c_text.array(f"{'const ' if constant else ''}{c_type} microshrub_{name}", numbers)


def _fits(number: int, c_type: str) -> bool:
    signed, bits = _BITS[c_type]
    return (-(1 << bits) if signed else 0) <= number < 1 << bits
