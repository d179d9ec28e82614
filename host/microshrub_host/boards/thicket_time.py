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
        6: ((161637, 165332), (273864, 579616), (247014, 253591), (410707, 873263)),
        50: ((124296, 132399), (548379, 605997), (186089, 202318), (466714, 997631)),
        360: ((334418, 335427), (1061755, 1188021), (395856, 431871), (1383206, 1537501)),
    },
    "armv7emsp": {
        6: ((148645, 152186), (241659, 529755), (232323, 238891), (367794, 800969)),
        50: ((102147, 110149), (478619, 539161), (164135, 180449), (414213, 884087)),
        360: ((274826, 279058), (926688, 1056993), (349155, 385189), (1227608, 1362512)),
    },
    "rv32imc": {
        6: ((147971, 151038), (243692, 503643), (228286, 233951), (367102, 760526)),
        50: ((100943, 108329), (459626, 514003), (157079, 171958), (402454, 845431)),
        360: ((283254, 287211), (895929, 1033550), (353149, 389024), (1172285, 1317469)),
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
