"""A learner of the device library inside the page: this file runs there, in MicroPython.

The page's worker calls this file. Texts are JSON; rows and labels are in files, since the worker
shares a file system in memory with MicroPython. The file runs on CPython as well.
"""

import json
import sys
from array import array

MYPY = False  # MicroPython has no typing; mypy takes this for true
if MYPY:
    from typing import Any

_RATIOS = ("accuracy", "accuracy_nochange", "accuracy_majority", "kappa", "kappa_temporal")
_DRIFT = "drift"
_MOST_VOTES = 32  # classes up to which votes are reported


class Learning:
    """A learner with a quantizer, metrics and a drift alarm, as on a board.

    percent: coverage of the prediction sets, the share that contain the true class; 0: no sets.
    """

    def __init__(self, learner: str, parameters: str, percent: int = 0) -> None:
        import microshrub

        try:
            self.model: Any = getattr(microshrub, learner)(**json.loads(parameters))
        except ValueError as error:  # a traceback would show the source
            raise ValueError(str(error)) from None
        self._grows = getattr(self.model, "moves", False)
        if self._grows:
            self.quantizer: Any = microshrub.GrowingQuantizer(self.model.features, (self.model,))
        else:
            self.quantizer = microshrub.Quantizer(self.model.features)
        self.guarantee: Any = None
        if percent:
            shape = self.model.features, self.model.classes
            self.guarantee = microshrub.Guarantee(*shape, percent=percent)
        self._row = array("H", bytes(2 * self.model.features))
        self.metrics = microshrub.Metrics(self.model.classes)
        self.alarm = microshrub.DriftAlarm()

    def observe(self, rows: str) -> None:
        """Fit the quantizer to the rows in a file and freeze it, unless its ranges grow."""
        if not self._grows:
            self.quantizer.observe(_raw(rows))
            self.quantizer.freeze()

    def learn(self, rows: str, labels: str, predictions: str) -> str:
        """Predict and learn the rows of a file one by one; return the status as JSON.

        The predictions are written to the file `predictions`.
        """
        raw = _raw(rows)
        truth = bytearray(_bytes(labels))
        predicted = (
            self._learned_singly(raw, truth) if self.guarantee else self._learned(raw, truth)
        )
        self.metrics.update_rows(truth, predicted)
        drifts = [i for i in range(len(truth)) if self._drifted(predicted[i] != truth[i])]
        with open(predictions, "wb") as file:
            file.write(predicted)
        return json.dumps(self._status(drifts))

    def _learned(self, raw: "array[int]", truth: bytearray) -> bytearray:
        """Return the prediction for each sample before the sample was learned."""
        codes = array("H", bytes(2 * len(raw)))
        predicted = bytearray(len(truth))
        at = 0
        while at < len(truth):
            end = self.quantizer.encode_from(raw, codes, at)
            self.model.run(codes, truth, predicted, at, end)
            at = end
        return predicted

    def _learned_singly(self, raw: "array[int]", truth: bytearray) -> bytearray:
        """Do the same as _learned(), with a prediction set for each sample, as a board does."""
        model, row = self.model, self._row
        predicted = bytearray(len(truth))
        for k in range(len(truth)):
            self.quantizer.encode(raw[k * len(row) : (k + 1) * len(row)], row)
            at_once = not model.votes_change
            predicted[k] = model.learn(row, truth[k]) if at_once else model.predict(row)
            self.guarantee.look(row, model.votes, predicted[k], truth[k])
            if not at_once:
                model.learn(row, truth[k])
        return predicted

    def ask(self, rows: str, predictions: str) -> None:
        """Write the predictions for unlabelled rows to a file, as a simulation does."""
        while self.model.idle():
            pass
        raw, codes = _raw(rows), self._row
        predicted = bytearray(len(raw) // len(codes))
        for k in range(len(predicted)):
            self.quantizer.code(raw[k * len(codes) : (k + 1) * len(codes)], codes)
            predicted[k] = self.model.predict(codes)
        with open(predictions, "wb") as file:
            file.write(predicted)

    def predict(self, row: str) -> str:
        """Return the class of the one row in a file, confidence and votes, 0..255, and the set.

        As JSON; the set is empty without a guarantee.

        The model is unchanged afterwards: its state depends only on the labelled samples.
        """
        parts = [part for part in (self.model, self.quantizer, self.guarantee) if part]
        kept = [(buffer, buffer[:]) for part in parts for _, _, buffer in part.buffers()]
        codes = self._row
        self.quantizer.code(_raw(row), codes)
        predicted = self.model.predict(codes)
        if self.guarantee:
            self.guarantee.look(codes, self.model.votes, predicted, -1)
        answer: dict[str, Any] = {"predicted": predicted, "set": self._set()}
        answer["confidence"] = self._confidence()
        answer["votes"] = self._votes()
        for buffer, before in kept:
            buffer[:] = before
        return json.dumps(answer)

    def buffers(self) -> str:
        """Return all buffers as JSON: [[owner, name, bytes], ...]."""
        parts = {"model": self.model, "quantizer": self.quantizer, "metrics": self.metrics}
        return json.dumps(
            [
                [owner, name, len(bytes(buffer))]
                for owner, part in parts.items()
                for name, _, buffer in part.buffers()
            ]
        )

    def selftest(self) -> int:
        """Return the CRC32 of a board's self-test with such a model, which uses this one up."""
        from microshrub.device.selftest import selftest

        crc, _ = selftest(self.model, self.quantizer, lambda: 0)  # type: ignore[no-untyped-call]
        return int(crc) & 0xFFFFFFFF

    def modules(self) -> str:
        """Return the modules of the device library imported so far, as JSON."""
        return json.dumps([name for name in sys.modules if name.startswith("microshrub")])

    def save(self, learner: str, quantizer: str) -> None:
        """Write the states of learner and quantizer to files."""
        for path, part in ((learner, self.model), (quantizer, self.quantizer)):
            with open(path, "wb") as file:
                part.write(file)

    def _drifted(self, wrong: bool) -> bool:
        return bool(self.alarm.update(wrong) == _DRIFT)

    def _confidence(self) -> int:
        return int(min(max(self.model.votes) >> 16, 255))

    def _votes(self) -> "list[int]":
        votes = self.model.votes
        if len(votes) > _MOST_VOTES:
            return []
        return [min(max(vote >> 16, 0), 255) for vote in votes]

    def _set(self) -> "list[int]":
        """Return the classes of the newest sample's prediction set."""
        guarantee = self.guarantee
        return [c for c in range(self.model.classes) if guarantee and guarantee.holds(c)]

    def _status(self, drifts: "list[int]") -> "dict[str, Any]":
        status = {name: getattr(self.metrics, name) for name in _RATIOS}
        status["samples"] = self.metrics.samples
        status["confidence"] = self._confidence()
        status["votes"] = self._votes()
        status["set"] = self._set()
        status["drifts"] = drifts
        status["state_crc32"] = self.model.state_crc32() & 0xFFFFFFFF
        status["clamped"] = self.quantizer.clamped
        status["missing"] = self.quantizer.missing
        status["progress"] = self.model.progress()
        status["confusion"] = list(self.metrics.buffers()[3][2])
        return status


def _bytes(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _raw(path: str) -> "array[int]":
    return array("i", _bytes(path))
