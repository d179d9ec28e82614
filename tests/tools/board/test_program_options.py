"""What `build` makes of --anomaly: samples to an alarm, from the rate of the board's sensor."""

from __future__ import annotations

import pytest

from microshrub_host.base.errors import UserError
from microshrub_host.boards import board_files
from microshrub_tools.board.program_options import ProgramOptions

PICO = board_files.load("rpi_pico")
ADC = ("adc", "pins=26,27", "rate=5")
MOTION = ("mpu6050", "scl=1", "sda=0", "rate=100", "window=64", "hop=50")


@pytest.mark.parametrize(
    ("sensor", "features", "period"),
    [(ADC, 2, 5 * 86400), (MOTION, 36, 2 * 86400)],
)
def test_an_alarm_a_day_is_so_many_samples(
    sensor: tuple[str, ...], features: int, period: int
) -> None:
    options = ProgramOptions(sensor=sensor, anomaly=("1 per day", "reach=1"))
    names = [f"f{i}" for i in range(features)]
    config = options.config(PICO, names, ["no", "yes"])
    assert config["anomaly"] == {"period": period, "window": 0, "reach": 1}


def test_over_the_link_the_rate_has_to_be_told() -> None:
    with pytest.raises(UserError, match="Write '1 per day at 50 Hz'"):
        ProgramOptions(anomaly=("1 per day",)).config(PICO, ["a"], ["no", "yes"])
    options = ProgramOptions(anomaly=("1 per day at 2 Hz",))
    assert options.config(PICO, ["a"], ["no", "yes"])["anomaly"]["period"] == 2 * 86400


def test_without_it_the_configuration_is_as_it_was() -> None:
    assert "anomaly" not in ProgramOptions().config(PICO, ["a"], ["no", "yes"])
