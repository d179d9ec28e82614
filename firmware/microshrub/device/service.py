"""What serves one configuration: link, sensor, button, lines for a plotter, watchdog."""

import gc
import sys

from micropython import const

from .config import adopt_new, forget, read_configuration
from .device_model import Application
from .link import Link
from .status import mem_free

_IDLE = const(100)  # milliseconds to wait for input where nothing else is to be done
_ANSWER = const(6000)  # microseconds that one takes on a slow board
_TURNS = const(256)  # of the loop, of which each takes 100 microseconds there
_TRIAL = const(30)  # seconds in which a host has to say hello to a new configuration


class Service:
    """All that serves the configuration in a folder. Raises ValueError if it cannot be.

    say(words) is for whoever looks. trial: it is the new configuration, which came over the link.
    It takes the old one's place when a host has said hello to it; until then it saves nothing.
    """

    def __init__(self, board, folder, inputs, say, trial=False):
        if not hasattr(sys.stdin, "buffer"):
            raise ValueError("this MicroPython has no sys.stdin.buffer, which frames need")
        configuration = read_configuration(folder, trial)
        self._board = board
        self._folder = folder
        self._say = say
        self._app = Application(configuration, folder)
        self._app.trial = trial
        self._sensor = self._button = self._watchdog = None
        if configuration.kind != "serial":
            from .sensors import make_sensor

            self._sensor = make_sensor(configuration, board, say)
        if configuration.label_pin is not None:
            from .sensors import Button

            self._button = Button(configuration.label_pin, board)
        if configuration.text:
            from .plotter import Plotter

            self._app.plotter = Plotter(configuration.feature_names)
        if self._app.attach:
            self._button = self._app.attach(board, self._button, self._sensor)
        if self._sensor:
            self._app.pace = self._sensor.pace
            if self._app.store and configuration.numbers is None:
                from .saving import Saving

                self._app.saving = Saving(self._app, self._sensor.pace)
        if configuration.switches is not None:
            from .switches import follow

            follow(self, board)
        if configuration.sleep is not None:
            from .sleep import make_sleep

            self._app.sleep = make_sleep(self._app, self._sensor, board, say)
        self._link = Link(self._app, sys.stdout.buffer.write)
        self._input = inputs
        self._count = 0  # of the loop, near a reading
        self._waited = 2  # readings since the input was looked at
        if configuration.network is not None:
            _attach(self, configuration, board, folder)
        configuration.feature_names = configuration.class_names = ()  # nobody needs them now
        configuration.units = None
        self._said_version = False  # of a host that speaks another version of the link
        if configuration.program:
            say("program %s" % configuration.program)
        if hasattr(gc, "threshold"):
            gc.threshold(-1)  # all that lasts is made
        say(self._app.begin())
        if configuration.watchdog:
            self._watchdog = board.watchdog(configuration.watchdog)
        size = self._app.learner.saved_bytes()
        gc.collect()
        say(
            "%s of %d bytes, %d features%s; %d bytes free"
            % (configuration.learner, size, configuration.features,
               ", %d classes" % configuration.classes if configuration.classes > 1 else "",
               gc.mem_free())
        )  # fmt: skip
        sys.stdout.buffer.write(b"\0\n")  # an empty frame: from here on the link answers

    def serve(self):
        """Until another configuration was taken in.

        Puts nothing on the heap, not even for the length of a call, but for what is asked for,
        such as a checkpoint. So nothing is ever collected.

        Returns (True, True): there is one, and it is to be tried. Raises KeyboardInterrupt,
        EOFError where the input ends, and ValueError if nobody says hello to this one.
        """
        gc.collect()
        app = self._app
        mem_free(app)
        while not app.restart:
            came = 0 if self.is_over() else self._input.take(self._link, self._wait())
            if came and app.sleep:
                app.sleep.heard()
            if app.trial:
                self._confirm()
            if self._link.foreign and not self._said_version:
                self._said_version = True
                self._say(
                    "a PC speaks version %d of the link, this program version 1: build and flash "
                    "the board with that PC's microshrub" % self._link.foreign
                )
            if self._sensor and self._sensor.pace.due():
                self._sense()
                if app.saving:
                    wrong = app.saving.go_on()
                    if wrong:
                        self._say(wrong)
            said = app.tick(self._board.milliseconds())
            if said:
                self._say(said)
            if self._watchdog:
                self._watchdog.feed()
        return True, True

    def _confirm(self):
        """The new configuration is the configuration, if a host has said hello to it."""
        if self._link.is_open:
            adopt_new(self._folder)
            self._app.trial = False
            self._say("the new configuration is in use")
        elif self._app.seconds >= _TRIAL:
            raise ValueError("nobody said hello to it within %d seconds" % _TRIAL)

    def is_over(self):
        """Whether an answer now would make one late.

        The link is never held up for long: not for two readings, nor for many turns.
        """
        near = self._sensor and not self._app.sleep and self._sensor.pace.wait() < _ANSWER
        self._count = min(self._count + 1, _TURNS) if near else 0
        if near and self._count < _TURNS and self._waited < 2:
            return True
        self._waited = 0
        return False

    def _wait(self):
        """Milliseconds that there is time for input."""
        if not self._sensor:
            return _IDLE
        wait = self._sensor.pace.wait()
        if self._app.sleep:
            return self._app.sleep.rest(max(wait // 1000, 0))
        return min(max(wait - _ANSWER, 0) // 1000, _IDLE)

    def _sense(self):
        """Read the sensor; learn, or predict, if that gave a sample; tell of it."""
        app = self._app
        sensor = self._sensor
        self._count = 0
        self._waited += 1
        if sensor and sensor.read(app.values):
            label = self._button.label() if self._button else -1
            self._link.observe(app.sample(label), label)

    def end(self):
        """Save a last checkpoint, if there is something to save; returns what is to be said."""
        said = ""
        if self._app.saving:
            self._app.saving.settle()
        if self._app.store and self._app.metrics.samples and not self._app.trial:
            self._app.store.save()
            said += "; " + self._app.store.message
        if self._watchdog:
            said += "; the watchdog will start the board anew"
        return said


def _attach(*given):
    from .networking import attach

    attach(*given)
    forget("networking", "house_start")
