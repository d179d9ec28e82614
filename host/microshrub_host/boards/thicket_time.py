"""Instructions of a thicket of any size: between those that were counted.

`microshrub costs --thickets` counts them: 600 samples behind 2,000, in clusters, with thickets of
16 and 48 KB, of 3, 10 and 36 features and 2, 5 and 10 classes. Between two, and up to 64 KB, work
grows with the bytes, and with features * classes; below 16 KB, with bytes + 80 KB. An emulated
Cortex-M0 has no room to count 36 features: it is taken to need as much more than a Cortex-M3 as
with 10.
"""

from __future__ import annotations

from itertools import pairwise

Pair = tuple[float, float]  # median and 99th percentile

SOURCE = "`microshrub costs --thickets`: emulated boards, QEMU"
BETWEEN = ("thickets of 16 KB", "48 KB")
_SMALL, _LARGE, _MOST = 16_384, 49_152, 65_536
_AT_LEAST = 80 * 1024

# By features * classes: predict and learn of the small one, predict and learn of the large one
_COUNTED: dict[str, dict[int, tuple[Pair, Pair, Pair, Pair]]] = {
    "armv6m": {
        6: ((121407, 124434), (213846, 418957), (181104, 186058), (296116, 613954)),
        50: ((102722, 109098), (435311, 480697), (165246, 179694), (403785, 764675)),
        360: ((232786, 235539), (865130, 998198), (292372, 329083), (1097877, 1236544)),
    },
    "armv7emsp": {
        6: ((110487, 113506), (189683, 380827), (168470, 173346), (267183, 557508)),
        50: ((85996, 92193), (389240, 431645), (148129, 162588), (363554, 687989)),
        360: ((194882, 199042), (773569, 896338), (262087, 297756), (988490, 1112536)),
    },
    "rv32imc": {
        6: ((107372, 110047), (187534, 375997), (162001, 166598), (259892, 548431)),
        50: ((82855, 88665), (381577, 423231), (140109, 154176), (353449, 670515)),
        360: ((183169, 187043), (743479, 876487), (247962, 283585), (947683, 1081632)),
    },
}


def instructions(arch: str, size: int, features: int, classes: int) -> tuple[Pair, Pair] | None:
    """Of a predict and of a learn; None for more bytes, features or classes than were counted."""
    counted = _COUNTED.get(arch)
    work = features * classes
    if not counted or size > _MOST or work > max(counted):
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
