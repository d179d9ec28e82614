"""The default learner's accuracy on five streams, to the sample: bits are equal everywhere.

To change the accuracy, record the new figures; the commit then shows the change:
`PYTHONPATH=tests/support python tests/firmware/thicket/test_pinned_accuracy.py`.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests_support import stream_of

from microshrub_host.evaluation import prequential
from microshrub_host.library import loader
from microshrub_host.library.learners import DEFAULT, defaults, stream_parameters

PINS = Path(__file__).with_name("pinned_accuracy.json")
STREAMS = ("synth:sea_a", "synth:agrawal_a", "river:ImageSegments", "elec", "occupancy")
SIZES = {"64 KB": 65536, "16 KB": 16384}
SAMPLES = 2000  # the first of each stream


def right(name: str, size: str) -> int:
    """Return the number of samples that are predicted right before they are learned."""
    stream = stream_of(name, SAMPLES)
    shape = stream_parameters(DEFAULT, stream, None)
    parameters = {**defaults(DEFAULT), **shape, "bytes": SIZES[size]}
    run = prequential.evaluate(stream, DEFAULT, parameters, engine=loader.fastest())
    return int(run.right.sum())


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", STREAMS)
def test_as_many_samples_are_right_as_recorded(name: str, size: str) -> None:
    pinned = json.loads(PINS.read_text(encoding="utf-8"))
    assert right(name, size) == pinned[name][size], "if that is meant, see the top of this file"


if __name__ == "__main__":
    accuracies = {name: {size: right(name, size) for size in SIZES} for name in STREAMS}
    PINS.write_text(json.dumps(accuracies, indent=4) + "\n", encoding="utf-8")
