"""Records samples to a file, each with the label of its moment."""

from __future__ import annotations

import time

from microshrub_host.base.errors import UserError
from microshrub_host.base.terminal import messages

from .line_samples import Reading
from .sample_file import SampleFile

_LABEL, _TIME = "label", "time"
_CUT = """\
Note: the board's program prints no more than these features. Without text in its configuration \
all are recorded."""


class Recorder:
    """Writes samples to the file, each with the label of its moment.

    With keys, or a label for all samples, the board's labels do not count. In a recording with
    labels, a sample without one is not written, but counted in `unlabelled`.
    """

    def __init__(
        self, file: SampleFile, keys: dict[str, str], label: str | None = None, *, timed: bool
    ) -> None:
        self._file = file
        self._keys = keys
        self._timed = timed
        self._has_labels = self._labelled = bool(keys) or label is not None
        self._began = time.monotonic()
        self._cut = False
        self.label = label
        self.unlabelled = 0

    def press(self, keys: str) -> bool:
        """Take the pressed keys; return whether they change the label."""
        before = self.label
        for key in keys:
            self.label = self._keys.get(key, self.label)
        return self.label != before

    def put(self, reading: Reading) -> None:
        """Write the sample, unless it lacks a label. Raises UserError."""
        if reading.cut and not self._cut:
            self._cut = True
            messages.say(_CUT)
        label = self.label if self._has_labels else reading.label
        self._labelled |= reading.has_label
        if self._labelled and label is None:
            self.unlabelled += 1
            return
        if self._timed and _TIME in reading.names:
            raise UserError("the board already has a value called time: leave --time out")
        moment = round(1000 * (time.monotonic() - self._began))
        names = [_TIME] * self._timed + [*reading.names] + [_LABEL] * self._labelled
        cells = [moment] * self._timed + [*reading.values] + [label] * self._labelled
        self._file.write(names, cells)
