"""The best known trees of a small memory fit it, and their figures are those of simulate()."""

from __future__ import annotations

import pytest

from microshrub_host import picks
from microshrub_host.options import learner, stream_parameters
from microshrub_host.picks import PICKS, Pick
from microshrub_host.simulate import simulate
from microshrub_host.streams import open_stream

SHAPES = {  # features, those of two values, classes
    "elec": (14, range(7, 14), 2),
    "weather": (8, (), 2),
    "agrawal_a": (40, range(6, 40), 2),
    "led_a": (24, range(24), 10),
    "rbf_m": (10, (), 5),
    "sea_a": (3, (), 2),
}


@pytest.mark.parametrize("pick", PICKS, ids=[pick.stream for pick in PICKS])
def test_it_fits_its_budget(pick: Pick) -> None:
    features, two_valued, classes = SHAPES[pick.stream]
    shape = {"features": features, "classes": classes, "two_valued": tuple(two_valued)}
    assert learner("hoeffding").nbytes(**shape, **pick.parameters) <= pick.budget


def test_a_row_is_what_simulate_says() -> None:
    pick = next(pick for pick in PICKS if pick.stream == "sea_a")
    stream = open_stream("synth:sea_a", limit=3000)
    wanted = stream_parameters("hoeffding", stream, 256) | dict(pick.parameters)
    row = picks.row(pick, stream)
    assert row[3] == f"{simulate(stream, 'hoeffding', wanted).accuracy:.2f}"
    assert row[2] == f"{learner('hoeffding').nbytes(**wanted):,}"
    assert row in [tuple(line[2:-2].split(" | ")) for line in picks.markdown([row]).splitlines()]
