"""Sets of features that a search weighs as it weighs models, where nobody has chosen them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..boards.usual_program import Names
from ..features.feature_choice import WINDOWS
from ..features.feature_options import AUTO, NONE, FeatureOptions
from .scores import Measure, Scores
from .splits import NumberSplit, StreamSplit
from .trials import Candidate

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
    statistics = [given["statistics"]] if "statistics" in given else ["all", NONE]
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


@dataclass(frozen=True)
class FeatureSets:
    """The streams that sets of features make of one recording, by the words behind --features."""

    splits: Mapping[str, StreamSplit | NumberSplit]

    @property
    def _usual(self) -> StreamSplit | NumberSplit:
        return next(iter(self.splits.values()))

    @property
    def name(self) -> str:
        return self._usual.name

    @property
    def samples(self) -> int:
        return self._usual.samples

    @property
    def first(self) -> int:
        return self._usual.first

    @property
    def warmup(self) -> int | None:
        return self._usual.warmup

    @property
    def features(self) -> int:
        return self._usual.features

    @property
    def names(self) -> Names:
        return self._usual.names

    @property
    def measure(self) -> Measure:
        return self._usual.measure

    @property
    def default(self) -> str:
        return self._usual.default

    @property
    def around(self) -> Any:
        return self._usual.around

    def sets(self) -> list[str]:
        """All of them, the one that is usual first."""
        return list(self.splits)

    def of(self, features: str) -> StreamSplit | NumberSplit:
        """The stream that this set makes."""
        return self.splits[features]

    def models(self) -> list[str]:
        """Those of one set."""
        return self._usual.models()

    def parameters(self, candidate: Candidate) -> dict[str, Any]:
        """All parameters of its constructor on its set's stream."""
        return self.of(candidate.features).parameters(candidate)

    def run(self, candidate: Candidate) -> Scores:
        """Learn its set's stream."""
        return self.of(candidate.features).run(candidate)

    def baselines(self) -> dict[str, Scores]:
        """The simple guesses, which look at no feature."""
        return self._usual.baselines()

    def content(self) -> Iterator[bytes]:
        """All that makes the streams these."""
        for words, split in self.splits.items():
            yield words.encode()
            yield from split.content()
