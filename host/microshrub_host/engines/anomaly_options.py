"""What a user says of the anomaly score, such as `1 per day at 50 Hz` and reach=1.

That is how often an alarm may come, and the parameters of firmware's AnomalyScore. The device
counts in samples; this makes samples of times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from ..base.errors import UserError
from ..base.how_often import share_of_samples
from ..base.settings import settings
from . import loader

_SETTINGS = {"window": 0, "reach": 4}


@dataclass(frozen=True)
class AnomalyOptions:
    """The parameters of an AnomalyScore but for the features; window 0 fits 8 KB."""

    period: int  # samples to an alarm
    window: int = 0
    reach: int = 4

    @classmethod
    def of(cls, words: Sequence[str], hertz: float | None = None) -> AnomalyOptions:
        """Those that the words ask for: how often, then settings such as reach=1.

        hertz is the rate of the sensor, where it is known. Raises UserError.
        """
        how_often, *rest = words
        found = settings("--anomaly", rest, _SETTINGS)
        options = cls(samples_to_an_alarm(how_often, hertz), **found)
        options.check()
        return options

    def parameters(self) -> dict[str, int]:
        """The keyword arguments of the AnomalyScore."""
        return asdict(self)

    def size(self, features: int) -> tuple[int, int]:
        """Samples in the window, and bytes of the buffers, for that many features."""
        made = loader.load("python").AnomalyScore(features, **self.parameters())
        return made.window, made.nbytes(features, made.window)

    def check(self) -> None:
        """Raise UserError for what it refuses."""
        library = loader.load("python")
        try:
            library.AnomalyScore(1, **self.parameters())
        except library.learner.ParameterError as error:
            name, allowed, given = error.args
            what = "the samples to an alarm have" if name == "period" else f"{name} has"
            raise UserError(f"--anomaly: {what} to be {allowed}, not {given!r}") from None


def samples_to_an_alarm(text: str, hertz: float | None = None) -> int:
    """How many samples there are to an alarm: of `1 per day at 50 Hz`, `0.1 %`, `0.001`.

    hertz is the rate where the text names none. Raises UserError.
    """
    return round(1 / share_of_samples(text, "--anomaly", "an alarm may come", hertz))
