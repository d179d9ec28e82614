"""Which samples of a stream the model asked to be labelled, and what it was told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engines.asking_options import AskingOptions

_ANSWERED = 2  # in what the engine says of a row


@dataclass(frozen=True)
class AskingRun:
    """Which samples were asked for, and which of these are answered, shapes (samples,).

    An answer that was under way at the end of the stream counts, too.
    """

    options: AskingOptions
    asked: NDArray[np.bool_] = field(repr=False)
    answered: NDArray[np.bool_] = field(repr=False)

    @classmethod
    def of(cls, blocks: Sequence[NDArray[np.uint8]], options: AskingOptions) -> AskingRun:
        """The run of these blocks, one after the other."""
        said = np.concatenate(blocks)
        return cls(options, said > 0, said == _ANSWERED)

    @property
    def questions(self) -> int:
        """How many samples were asked for."""
        return int(np.count_nonzero(self.asked))

    @property
    def share(self) -> float:
        """Them in percent of all samples."""
        return 100 * self.questions / max(len(self.asked), 1)

    def record(self) -> dict[str, Any]:
        """For --json: samples that were asked for, and answered, by their numbers from 0 on."""
        return {
            **self.options.parameters(),
            "asked": np.flatnonzero(self.asked).tolist(),
            "answered": np.flatnonzero(self.answered).tolist(),
        }

    def rows(self) -> list[tuple[str, str]]:
        """For a table: names and values."""
        options = self.options
        words = f"{self.questions:,}, {self.share:.2f} %"
        if options.labels < options.samples:
            words += f"; {options.share:.3g} % are allowed"
            if self.share > options.share:
                words += f", and {options.advance:,} in advance"
        rows = [("labels asked for", words)]
        if options.unanswered:
            never = self.questions - int(np.count_nonzero(self.answered))
            rows.append(("  never answered", f"{never:,}"))
        if options.delay:
            rows.append(("  answers come", f"{options.delay:,} samples later"))
        return rows
