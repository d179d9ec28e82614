"""What serves one configuration: link, sensor, button, lines for a plotter, watchdog."""

import gc
import sys

from .config import read_configuration
from .device_model import Application
from .link import Link
from .program import say
from .stdin import Input

_IDLE = 100  # milliseconds to wait for input where nothing else is to be done


class Service:
    """All that serves the configuration in a folder. Raises ValueError if it cannot be."""

    def __init__(self, board, folder):
        if not hasattr(sys.stdin, "buffer"):
            raise ValueError("this MicroPython has no sys.stdin.buffer, which frames need")
        configuration = read_configuration(folder + "config.json")
        self._board = board
        self._app = Application(configuration, folder)
        self._sensor = self._button = self._watchdog = None
        if configuration.kind != "serial":
            from .sensors import make_sensor

            self._sensor = make_sensor(configuration, board)
        if configuration.label_pin is not None:
            from .sensors import Button

            self._button = Button(configuration.label_pin, board)
        if configuration.text:
            from .plotter import Plotter

            self._app.plotter = Plotter(configuration.feature_names)
        configuration.feature_names = configuration.class_names = ()  # nobody needs them now
        configuration.units = None
        self._link = Link(self._app, sys.stdout.buffer.write)
        self._input = Input(board.milliseconds)
        say(self._app.begin())
        gc.collect()
        say(
            "%s of %d bytes, %d features, %d classes; %d bytes free"
            % (configuration.learner, self._app.learner.saved_bytes(), configuration.features,
               configuration.classes, gc.mem_free())
        )  # fmt: skip
        if configuration.watchdog:
            self._watchdog = board.watchdog(configuration.watchdog)

    def serve(self):
        """Until another configuration was taken in. Allocates nothing between checkpoints.

        Raises KeyboardInterrupt, and EOFError where the input ends.
        """
        app = self._app
        while not app.restart:
            self._input.take(self._link, self._wait())
            if self._sensor and self._sensor.pace.due():
                self._sense()
            said = app.tick(self._board.milliseconds())
            if said:
                say(said)
            if self._watchdog:
                self._watchdog.feed()

    def _wait(self):
        """Milliseconds that there is time for input."""
        if not self._sensor:
            return _IDLE
        return min(max(self._sensor.pace.wait() // 1000, 0), _IDLE)

    def _sense(self):
        """Read the sensor; learn, or predict, if that gave a sample; tell of it."""
        app = self._app
        sensor = self._sensor
        if sensor and sensor.read(app.values):
            label = self._button.label() if self._button else -1
            self._link.observe(app.sample(label), label)

    def end(self):
        """Save a last checkpoint, if there is something to save; returns what is to be said."""
        said = ""
        if self._app.store and self._app.metrics.samples:
            self._app.store.save()
            said += "; " + self._app.store.message
        if self._watchdog:
            said += "; the watchdog will start the board anew"
        return said
