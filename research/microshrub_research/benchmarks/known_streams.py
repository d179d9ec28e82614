"""The streams of the benchmarks: those on which all constants were chosen, and unseen ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from microshrub_host.streams.open_stream import open_stream
from microshrub_host.streams.stream import Stream

from .family_members import WARMUP

UNSEEN_SAMPLES = 50_000


@dataclass(frozen=True)
class KnownStream:
    """The source of a stream: a file of a folder, or a generator if there is no file."""

    file: str = ""
    classes: tuple[str, ...] | None = None  # where some classes appear late
    shuffle: int | None = None  # a seed; in file order, NoChange is hard to beat
    samples: int | None = None  # at most

    def path(self, name: str, folder: Path | None) -> str:
        """Return the path or name for open_stream()."""
        return str((folder or Path()) / self.file) if self.file else f"synth:{name}"

    def open(self, name: str, folder: Path | None, limit: int | None = None) -> Stream:
        """Open the stream."""
        limits = [samples for samples in (limit, self.samples) if samples is not None]
        return open_stream(
            self.path(name, folder),
            classes=self.classes,
            shuffle=self.shuffle,
            limit=min(limits, default=None),
            warmup=WARMUP,
        )


_WISDM = KnownStream("wisdm.csv.gz", tuple("012345"))
_ROOMOCC = KnownStream("roomocc.csv.gz", tuple("0123"))

# Eight streams on which simple learners are far from the best possible accuracy
CHOSEN: Mapping[str, KnownStream] = {
    "elec": KnownStream("elec.csv.gz"),
    "weather": KnownStream("weather.csv.gz"),
    "agrawal_a": KnownStream(),
    "led_a": KnownStream(),
    "rbf_m": KnownStream(),
    "sea_a": KnownStream(),
    "wisdm": KnownStream(_WISDM.file, _WISDM.classes, shuffle=0),
    "roomocc": KnownStream(_ROOMOCC.file, _ROOMOCC.classes, shuffle=0),
}
# Three streams in which the last label is hard to beat
IN_ORDER: Mapping[str, KnownStream] = {
    "occupancy": KnownStream("occupancy.csv.gz"),
    "wisdm_in_order": _WISDM,
    "roomocc_in_order": _ROOMOCC,
}
SHUFFLED: Mapping[str, KnownStream] = {
    "elec_shuffled": KnownStream("elec.csv.gz", shuffle=0),
}
UNSEEN: Mapping[str, KnownStream] = {
    f"unseen_{name}": KnownStream(samples=UNSEEN_SAMPLES)
    for name in ("agrawal", "led", "rbf", "rbf_drift", "sea", "sine")
}
# Stationary concepts: long streams show how much learners gain from more samples
STILL: Mapping[str, KnownStream] = {
    f"unseen_{name}": KnownStream(samples=UNSEEN_SAMPLES) for name in ("clusters", "random_tree")
}
# Five concepts each, which change abruptly
CHANGING: Mapping[str, KnownStream] = {
    f"changing_{name}": KnownStream(samples=20_000)
    for name in ("agrawal", "sea", "sine", "stagger")
}
STREAMS: Mapping[str, KnownStream] = {
    **CHOSEN, **IN_ORDER, **SHUFFLED, **UNSEEN, **STILL, **CHANGING,
}  # fmt: skip
GROUPS: Mapping[str, Sequence[str]] = {
    "known": (*CHOSEN, *IN_ORDER),
    "chosen": tuple(CHOSEN),
    "unseen": tuple(UNSEEN),
    "labels": (*SHUFFLED, *CHOSEN, *CHANGING),
}
