"""`microshrub reproduce shrub-ensembles`: accuracy against memory, as in the paper.

Buschjaeger, Hess, Morik: Shrub Ensembles for Online Classification, AAAI 2022, section 4.
"""

from __future__ import annotations

from .experiment import Experiment, Extent
from .shrub_methods import shrub_methods
from .shrub_pictures import pictures
from .shrub_tables import tables

STREAMS = (
    "gas-sensor", "nomao", "elec", "weather", "covtype", "airlines",
    "agrawal_a", "agrawal_g", "led_a", "led_g", "rbf_f", "rbf_m",
)  # fmt: skip

EXPERIMENT = Experiment(
    name="shrub-ensembles",
    text="Shrub Ensembles for Online Classification, AAAI 2022",
    streams=STREAMS,
    full=Extent(streams=STREAMS, configurations=50, samples=None, seconds=7200),
    quick=Extent(streams=("elec", "weather", "rbf_m"), configurations=3, samples=2000, seconds=60),
    methods=shrub_methods,
    tables=tables,
    pictures=pictures,
    most_bytes=1 << 20,
)
