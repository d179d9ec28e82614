"""Serves one configuration: link, sensor, button, lines of text for a plotter, watchdog."""

import gc
import sys

from micropython import const

from .config import adopt_new, forget, read_configuration
from .link import Link

_IDLE = const(100)  # milliseconds to wait for input where there is nothing else to do
_ANSWER = const(6000)  # microseconds that an answer takes on a slow board
_TURNS = const(256)  # turns of the loop; each takes 100 microseconds there
_UNSAVED = const(2000)  # milliseconds of sleep, at most, while something is not saved
_SHOWN = const(6)  # features in a line for a plotter
_SPACE = const(12)  # where a value's space is, after a colon, a minus and ten digits
_TRIAL = const(30)  # seconds in which a host has to say hello to a new configuration


class Service:
    """Serves the configuration in a folder. Raises ValueError if that is not possible.

    say(text) prints a line for people. trial: this is a new configuration that came over the link.
    It replaces the old one once a host has sent hello; until then, nothing is saved.
    """

    def __init__(self, board, folder, inputs, say, trial=False):
        if not hasattr(sys.stdin, "buffer"):
            raise ValueError("this MicroPython has no sys.stdin.buffer, which frames need")
        configuration = read_configuration(folder, trial)
        self._board = board
        self._folder = folder
        self._say = say
        if configuration.regression is None:
            from .application import Application
        else:
            from .regression_app import RegressionApp as Application
        self._app = app = Application(configuration, folder)
        app.trial = trial
        self._sensor = self._button = self._watchdog = None
        if configuration.kind != "serial":
            from .sensor_start import make_sensor

            self._sensor = make_sensor(configuration, board, say)
            forget("sensor_start")
        if configuration.label_pin is not None:
            from .sensors import Button

            self._button = Button(configuration.label_pin, board)
        if configuration.text:
            app.plotter = Plotter(configuration.feature_names)
        for companion in app.companions:
            if hasattr(companion, "attach"):
                self._button = companion.attach(board, self._button, self._sensor)
        if self._sensor:
            app.pace = self._sensor.pace
        if app.store:
            self._save_in_steps(board, configuration)
        if configuration.sleep is not None:
            from .sleep import make_sleep

            app.sleep = make_sleep(app, self._sensor, board, say)
        self._link = Link(app, sys.stdout.buffer.write)
        self._input = inputs
        self._count = 0  # turns of the loop, near a reading
        self._waited = 2  # readings since the last look at the input
        if configuration.switches is not None or configuration.network is not None:
            from .companions import make_for_board

            make_for_board(self, board, folder)
            forget("companions", "network_start")
        configuration.feature_names = configuration.class_names = ()  # nobody needs them now
        configuration.units = None
        self._version_reported = False  # the host's other version was reported
        if configuration.program:
            say("program %s" % configuration.program)
        if hasattr(gc, "threshold"):
            gc.threshold(-1)  # all that stays is made
        say(app.begin())
        if configuration.watchdog:
            self._watchdog = board.watchdog(configuration.watchdog)
        size = app.learner.saved_bytes()
        gc.collect()
        say(
            "%s of %d bytes, %d feature%s%s; %d bytes free"
            % (configuration.learner, size, configuration.features,
               "" if configuration.features == 1 else "s",
               ", %d classes" % configuration.classes if configuration.classes > 1 else "",
               gc.mem_free())
        )  # fmt: skip
        sys.stdout.buffer.write(b"\0\n")  # an empty frame: from here on the link answers

    def _save_in_steps(self, board, configuration):
        app = self._app
        if self._sensor and configuration.regression is None:
            from .saving import LabelsHeld

            app.saving = LabelsHeld(app, app.pace)
        else:
            from .saving import Saving

            app.saving = Saving(app, app.pace)
        led = configuration.checkpoint.get("led")
        if led is not None:
            app.light = board.light(led)

    def serve(self):
        """Serve until a new configuration has arrived; returns (True, True), to try it.

        Allocates nothing, not even temporarily, except for some requests, such as for a
        checkpoint. So there is never any garbage to collect.

        Raises KeyboardInterrupt, EOFError at the end of the input, and ValueError if no host sends
        hello to a configuration on trial.
        """
        gc.collect()
        self._app.mem_free()
        try:
            self._serve()
        finally:
            for companion in self._app.companions:
                if hasattr(companion, "end"):
                    companion.end()
        return True, True

    def _serve(self):
        app = self._app
        while not app.restart:
            came = 0 if self.is_over() else self._input.take(self._link, self._wait())
            if came and app.sleep:
                app.sleep.heard()
            if app.trial:
                self._confirm()
            if self._link.foreign and not self._version_reported:
                self._version_reported = True
                self._say(
                    "a PC speaks version %d of the link, this program version 1: build and flash "
                    "the board with that PC's microshrub" % self._link.foreign
                )
            is_read = self._sensor and self._sensor.pace.due()
            if is_read:
                self._sense()
            saving = app.saving
            if saving and (app.still or saving.held):
                wrong = saving.turn(is_read)
                if wrong:
                    self._say(wrong)
            message = app.tick(self._board.milliseconds())
            if message:
                self._say(message)
            if self._watchdog:
                self._watchdog.feed()

    def _confirm(self):
        """End the trial of a new configuration once a host has sent hello."""
        if self._link.is_open():
            adopt_new(self._folder)
            self._app.trial = False
            self._say("the new configuration is in use")
        elif self._app.seconds >= _TRIAL:
            raise ValueError("no host sent hello within %d seconds" % _TRIAL)

    def is_over(self):
        """Return whether answering a request now would delay the next reading.

        A request never waits for long: for at most one reading, or a few turns of the loop.
        """
        near = self._sensor and not self._app.sleep and self._sensor.pace.wait() < _ANSWER
        self._count = min(self._count + 1, _TURNS) if near else 0
        if near and self._count < _TURNS and self._waited < 2:
            return True
        self._waited = 0
        return False

    def _wait(self):
        """Return the milliseconds until the next reading, for which to wait for input."""
        app = self._app
        if app.still and app.saving and app.saving.has_time():
            return 0
        if not self._sensor:
            return _IDLE
        wait = self._sensor.pace.wait()
        if app.sleep and not app.still:
            wait = max(wait // 1000, 0)
            return app.sleep.rest(min(wait, _UNSAVED) if app.unsaved() > 0 else wait)
        return min(max(wait - _ANSWER, 0) // 1000, _IDLE)

    def _sense(self):
        """Read the sensor; if that completes a sample, learn or predict it, and report it."""
        app = self._app
        sensor = self._sensor
        self._count = 0
        self._waited += 1
        if sensor and sensor.read(app.values):
            label = self._button.label() if self._button else -1
            self._link.observe(app.sample(label), label)

    def end(self):
        """Save a last checkpoint if there is anything to save; returns the message to print."""
        message = ""
        app = self._app
        app.settle()
        worth = app.quantizer.frozen and (app.metrics.samples or app.unsaved() > 0)
        if app.store and worth and not app.trial:
            app.store.note(app.changes)
            app.store.save()
            message += "; " + app.store.message
        if self._watchdog:
            message += "; the watchdog will start the board anew"
        return message


class Plotter:
    """Lines such as `x:12 y:-3 label:1 pred:1 acc:934`, which Thonny and the Arduino IDE draw.

    names are the names of the features; the first six features are drawn. acc is in 1/1000.
    Companions add an anomaly score, anomaly:52, the id of a sample whose label is queried,
    asks:17, and how many samples wait for a name, unnamed:8. After the values, there is room for
    68 characters. Nothing is allocated.
    """

    def __init__(self, names):
        self._names = tuple([_plain(name) for name in names[:_SHOWN]])
        self._line = bytearray(sum([len(name) + 13 for name in self._names]) + 68)
        self._text = bytearray(b" " * (_SPACE + 1))  # of a value, at the end
        self._at = 0

    def show(self, values, label, predicted, metrics, plot=None):
        """Print a line; plot(plotter, label) adds to it. label is -1 if it is not known."""
        self.begin(values)
        if label >= 0:
            self.put(b"label", label)
        self.put(b"pred", predicted)
        self.put(b"acc", metrics.accuracy // 1000)
        if plot:
            plot(self, label)
        self.end()

    def begin(self, values):
        """Start a line with a sample's values."""
        self._at = 0
        for i in range(len(self._names)):
            self.put(self._names[i], values[i])

    def end(self):
        """Print the line."""
        line = self._line
        line[self._at - 1] = 13  # instead of the space
        line[self._at] = 10
        sys.stdout.buffer.write(line, self._at + 1)

    def put(self, name, value):
        """Add a name, bytes, and a value to the line."""
        self._add(name, 0)
        rest = -value if value < 0 else value
        text = self._text
        k = _SPACE
        while rest or k == _SPACE:
            k -= 1
            text[k] = 48 + rest % 10
            rest //= 10
        if value < 0:
            k -= 1
            text[k] = 45  # minus
        text[k - 1] = 58  # colon
        self._add(text, k - 1)

    def _add(self, text, start):
        """Add a text, bytes, from its byte `start` on."""
        line = self._line
        at = self._at
        for i in range(start, len(text)):
            line[at] = text[i]
            at += 1
        self._at = at


def _plain(name):
    """Return a name without the characters that have a meaning in a line."""
    text = "".join(["_" if c in " :,\t\r\n" else c for c in name])
    return text.encode()
