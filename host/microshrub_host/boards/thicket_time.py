"""Instructions of a thicket of any size: between those that were counted.

Counted in QEMU on an emulated Cortex-M0 and Cortex-M3 as `microshrub costs` does it: 600 samples
behind 2,000, in clusters, with thickets of 16 and 64 KB, of 3, 10 and 36 features and 2, 5 and 10
classes. Between two, work grows with bytes + 80 KB, and with features * classes.
"""

from __future__ import annotations

from itertools import pairwise

Pair = tuple[float, float]  # median and 99th percentile

SOURCE = "thickets counted as by `microshrub costs`"
BETWEEN = ("thickets of 16 KB", "64 KB")
_SMALL, _LARGE = 16_384, 65_536
_AT_LEAST = 80 * 1024

# By features * classes: predict and learn of the small one, predict and learn of the large one
_COUNTED: dict[str, dict[int, tuple[Pair, Pair, Pair, Pair]]] = {
    "armv6m": {
        6: ((178716, 182302), (258718, 587896), (264628, 270271), (384584, 880533)),
        50: ((143039, 158266), (345888, 592920), (365902, 418807), (624166, 1155965)),
        360: ((192049, 199903), (816332, 959788), (401696, 481148), (1332674, 1514640)),
    },
    "armv7emsp": {
        6: ((170539, 173538), (238399, 556819), (255902, 260744), (357188, 842259)),
        50: ((130608, 145440), (318281, 556319), (357509, 417193), (606090, 1104757)),
        360: ((179794, 187057), (775109, 913557), (386703, 466288), (1267438, 1441817)),
    },
}

# An RV32 takes 4 to 11 % fewer for the thickets of elec that `microshrub costs` counts
_LIKE = {"rv32imc": "armv7emsp"}


def instructions(arch: str, size: int, features: int, classes: int) -> tuple[Pair, Pair] | None:
    """Of a predict and of a learn; None for more bytes, features or classes than were counted."""
    counted = _COUNTED.get(_LIKE.get(arch, arch))
    work = features * classes
    if not counted or size > _LARGE or work > max(counted):
        return None
    work = max(work, min(counted))
    low, high = next(pair for pair in pairwise(counted) if work <= pair[1])
    part = (work - low) / (high - low)
    small, large = (
        [_between(counted[low][k + i], counted[high][k + i], part) for i in range(2)]
        for k in (0, 2)
    )
    grown = (size - _SMALL) / (_LARGE - _SMALL)
    if size < _SMALL:
        share = (size + _AT_LEAST) / (_SMALL + _AT_LEAST)
        predict, learn = [(a * share, b * share) for a, b in small]
    else:
        predict, learn = [_between(a, b, grown) for a, b in zip(small, large, strict=True)]
    return predict, learn


def _between(low: Pair, high: Pair, part: float) -> Pair:
    return low[0] + part * (high[0] - low[0]), low[1] + part * (high[1] - low[1])
