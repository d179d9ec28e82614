"""The simulator for a simulated year's device: the library on another engine, no program."""

from __future__ import annotations

from array import array
from io import BytesIO
from typing import Any

from microshrub_host.library import loader

from .year_device import CLASSES, FEATURES, LEARNER, PARAMETERS, WARMUP


class YearSimulator:
    """A quantizer, a learner and metrics that get the same samples as the device."""

    def __init__(self) -> None:
        engine = "llvm" if loader.fastest() == "c" else "python"
        self._library: Any = loader.load(engine)
        self._codes = array("H", [0] * FEATURES)
        self.start()

    def start(self) -> None:
        """Start with nothing learned."""
        self._quantizer = self._library.Quantizer(FEATURES)
        self._learner = getattr(self._library, LEARNER)(**PARAMETERS)
        self._metrics = self._library.Metrics(CLASSES)
        self._seen = 0

    def sample(self, values: array[int]) -> tuple[array[int] | None, int, int]:
        """Return codes, prediction and confidence, 0..255; None, 0 and 0 during the warm-up."""
        if not self._quantizer.frozen:
            self._quantizer.observe(values)
            self._seen += 1
            if self._seen >= WARMUP:
                self._quantizer.freeze()
            return None, 0, 0
        self._quantizer.encode(values, self._codes)
        predicted = self._learner.predict(self._codes)
        confidence = min(max(self._learner.votes) >> 16, 255)
        return self._codes[:], predicted, confidence

    def label(self, codes: array[int], predicted: int, label: int) -> None:
        """Learn a sample, and count its prediction."""
        self._learner.learn(codes, label)
        self._metrics.update(label, predicted)

    def parts(self) -> list[int]:
        """Return the checksums of quantizer, learner and metrics."""
        return [part.state_crc32() for part in self._parts()]

    def saved(self) -> bytes:
        """Return the whole state."""
        stream = BytesIO()
        for part in self._parts():
            part.write(stream)
        return stream.getvalue()

    def load(self, state: bytes) -> None:
        """Restore a state of saved()."""
        stream = BytesIO(state)
        for part in self._parts():
            part.read(stream)

    def _parts(self) -> tuple[Any, Any, Any]:
        return self._quantizer, self._learner, self._metrics
