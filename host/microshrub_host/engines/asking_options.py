"""What a user says of the labels that a model may ask for: `10%`, `20 per day at 1 Hz`."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from ..base.errors import UserError
from ..base.how_often import share_of_samples
from . import loader

OPTION = "--label-budget"
_MOST_SAMPLES = 1 << 29
_MOST_DELAY = 32767
_OF_QUESTIONS = 32768  # what `unanswered` is counted in


@dataclass(frozen=True)
class AskingOptions:
    """The parameters of firmware's Asking, and of the person who answers.

    At most `labels` in so many `samples` are asked for. An answer comes `delay` samples after its
    question, 0..32767; of 32768 questions, so many are `unanswered`.
    """

    labels: int = 1
    samples: int = 1
    delay: int = 0
    unanswered: int = 0

    @classmethod
    def of(
        cls,
        budget: str | None,
        delay: int = 0,
        unanswered: str | None = None,
        hertz: float | None = None,
    ) -> AskingOptions:
        """Those that the texts ask for; without a budget, each sample is asked for.

        hertz is the rate of the sensor, where it is known. Raises UserError.
        """
        if not 0 <= delay <= _MOST_DELAY:
            raise UserError(f"--label-delay has to be 0..{_MOST_DELAY:,} samples, not {delay:,}")
        labels, samples = _budget(budget, hertz) if budget else (1, 1)
        return cls(labels, samples, delay, _unanswered(unanswered) if unanswered else 0)

    @property
    def share(self) -> float:
        """Labels in percent of the samples."""
        return 100 * self.labels / self.samples

    @property
    def advance(self) -> int:
        """Labels that may be asked for before they are earned, and are paid back then."""
        at_once, samples = (loader.constant("asking", name) for name in ("_AT_ONCE", "_ADVANCE"))
        return max(at_once, samples * self.labels // self.samples)

    def most(self, samples: int) -> int:
        """Labels that are asked for of so many samples, at most."""
        earned = samples * self.labels // self.samples
        return min(max(earned, self.advance + (earned + 1) // 2), samples)

    @property
    def refused(self) -> float:
        """Questions that are never answered, in percent."""
        return 100 * self.unanswered / _OF_QUESTIONS

    def parameters(self) -> dict[str, int]:
        """What engines.start() takes."""
        return asdict(self)

    def budget(self) -> dict[str, int]:
        """The keyword arguments of the Asking."""
        return {"labels": self.labels, "samples": self.samples}


def _budget(text: str, hertz: float | None) -> tuple[int, int]:
    share = share_of_samples(text, OPTION, "a label may be asked for", hertz)
    share = min(share, type(share)(1)).limit_denominator(_MOST_SAMPLES)
    if not share:
        raise UserError(f"{OPTION} {text!r} is less than one label in {_MOST_SAMPLES:,} samples")
    return share.numerator, share.denominator


def _unanswered(text: str) -> int:
    share = share_of_samples(text, "--unanswered", "a question is left unanswered")
    return min(round(share * _OF_QUESTIONS), _OF_QUESTIONS)
