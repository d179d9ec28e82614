"""Sets of features that a search weighs as it weighs models, where nobody has chosen them."""

from __future__ import annotations

from collections.abc import Sequence

from ..features.feature_choice import WINDOWS
from ..features.feature_options import AUTO, NONE, FeatureOptions

_SEARCHED = ("window", "hop", "statistics", "bands")


def weighed(words: Sequence[str], chosen: FeatureOptions) -> list[str]:
    """What is tried of --features: the words that were given, and what they leave open.

    These are windows of half and twice the readings, statistics, bands, and both, each with the
    same hop. The first of them is what `chosen` is, the same as without a search.
    """
    given = dict(word.split("=", 1) for word in words)
    kept = [word for word in words if word.partition("=")[0] not in _SEARCHED]
    window = chosen.window
    near = [window, window // 2, window * 2]
    windows = [window] if "window" in given else [w for w in near if w in WINDOWS]
    statistics = [given["statistics"]] if "statistics" in given else [AUTO, NONE]
    bands = [given["bands"]] if "bands" in given else [AUTO, NONE]
    if not chosen.chosen:
        bands.sort(key=NONE.__ne__)  # what is chosen comes first
    return [
        " ".join([f"window={w}", f"hop={chosen.hop}", f"statistics={s}", f"bands={b}", *kept])
        for w in windows
        for s in statistics
        for b in bands
        if (s, b) != (NONE, NONE) and (b != AUTO or w in WINDOWS)
    ]
