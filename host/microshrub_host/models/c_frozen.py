"""A frozen model as a C99 header: the codes, the votes and the class of the device, no learning.

It has no floats and includes nothing but stdint.h. Signed right shifts, which C leaves to the
compiler, are only made of numbers that are not negative.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..streams.units import MISSING
from . import c_text
from .c_frozen_code import BAYES, DESCEND, MOST, PREDICT, QUANTIZER
from .frozen import Frozen, TreeTable
from .model_files import ModelFile
from .trees import Answer

_KINDS = ("uint8_t", "int16_t", "uint16_t", "int32_t")
_BITS = {"uint8_t": (0, 8), "int16_t": (1, 15), "uint16_t": (0, 16), "int32_t": (1, 31)}


def exported(model: Frozen) -> tuple[bytes, str]:
    """The header, and what to know of it."""
    table = model.table()
    lines = [*_sizes(model), *_quantizer(model), *_trees(model, table)]
    code, answer = [QUANTIZER, DESCEND], "microshrub_label[leaf]"
    if not model.single or model.bayes:
        code.append(MOST)
    if not model.single:
        answer = "microshrub_most()"
    if model.bayes:
        lines += _bayes(model, table)
        code.append(BAYES)
        slot = "microshrub_slot[leaf]"
        answer = f"{slot} >= 0 ? microshrub_bayes({slot}) : {answer}"
    code.append(PREDICT.replace("@ANSWER@", answer))
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
    for name, kind in names:
        lines += _array(name, held[f"quantizer.{name}"], kind)
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
    """The statistics of those leaves that need them, one after the other."""
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
    name: str, entries: Iterable[int], kind: str | None = None, constant: bool = True
) -> list[str]:
    """An array's definition; of the narrowest items, if no kind is given."""
    numbers = list(entries) or [0]  # C has no empty arrays
    kind = kind or next(k for k in _KINDS if all(_fits(n, k) for n in numbers))
    return c_text.array(f"{'const ' if constant else ''}{kind} microshrub_{name}", numbers)


def _fits(number: int, kind: str) -> bool:
    signed, bits = _BITS[kind]
    return (-(1 << bits) if signed else 0) <= number < 1 << bits
