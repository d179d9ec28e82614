"""What a user says of the anomaly score, such as `1 per day at 50 Hz` and reach=1.

That is how often an alarm may come, and the parameters of firmware's AnomalyScore. The device
counts in samples; this makes samples of times.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from ..base.errors import UserError
from ..base.settings import settings
from . import loader

_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}
_UNIT = "|".join([*_SECONDS, "samples?"])
_RATE = re.compile(
    rf"(?P<count>[\d.]+) per (?:(?P<length>[\d.,_]+) )?(?P<unit>{_UNIT})s?"
    r"(?: at (?P<hertz>[\d.]+) Hz)?",
    re.IGNORECASE,
)
_SHARE = re.compile(r"([\d.]+)( ?%)?")
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
    text = " ".join(text.split())
    if found := _SHARE.fullmatch(text):
        share = _number(found[1], text) / (100 if found[2] else 1)
        if not 0 < share <= 1:
            raise UserError(f"--anomaly {text!r}: a share has to be above 0 and at most 1")
        return round(1 / share)
    found = _RATE.fullmatch(text)
    if not found:
        raise UserError(
            f"--anomaly {text!r} is not how often an alarm may come. Write a share, such as "
            "0.001 or 0.1%, or '1 per day at 50 Hz', or '1 per 1000 samples'"
        )
    return round(_length(found, text, hertz) / _number(found["count"], text))


def _length(found: re.Match[str], text: str, hertz: float | None) -> float:
    """Samples in the time that the text names."""
    length = _number(found["length"] or "1", text)
    unit = found["unit"].lower()
    if unit.startswith("sample"):
        return length
    if found["hertz"]:
        hertz = _number(found["hertz"], text)
    if hertz is None:
        raise UserError(
            f"--anomaly {text!r}: how many samples a second are there? Write '{text} at 50 Hz'"
        )
    return length * _SECONDS[unit] * hertz


def _number(text: str, whole: str) -> float:
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        value = 0.0
    if not 0 < value < math.inf:
        raise UserError(f"--anomaly {whole!r}: {text} is not a number above 0")
    return value
