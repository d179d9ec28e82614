"""What a board in a house tells its broker, message by message, as its socket takes them."""

from array import array

from micropython import const

from .config import unload
from .house_events import EPOCH, KIND, NUMBER, SECOND
from .mqtt import PUBLISH, RETAIN
from .status import mem_free

_MINUTE = const(60000)  # milliseconds between two states, at most,
_LEAST = const(1000)  # and at least
_VALUES = const(13)
_TICKS = const(1073741823)
_COUNTING = const(12000)  # microseconds without a reading that it takes to count the heap

# In a form, a byte stands for the next of the values: 1 for a number, -1 for none, see fill();
_NAME = const(2)  # a class, by its name; -1 for none;
_STAMP = const(3)  # two: what an answer has to name, eight hexadecimal digits; -1 for none;
_KIND = const(4)  # an event
_STATE = (
    b'{"state":"\2","confidence":\1,"accuracy":\1,"drift":\1,"anomaly":\1,"new":\1,"samples":\1,'
    b'"free":\1,"lost":\1,"label":"\2","asked":"\3","guess":"\2"}'
)
_EVENT = b'{"event":"\4","class":"\2","id":"\3","ago":\1}'
_KINDS = b"state,drift,drift over,anomaly,anomaly over,question,new,"


class HouseVoice:
    """The voice of a House, whose topics begin with `base`; path is that of house.bin.

    due      the state is to be told before its minute is over
    flying   an event is under way
    words    bytes that are to be said
    """

    def __init__(self, house, base, client, path):
        self._house = house
        self._path = path
        self._base = base
        self._client = client
        self.due = self.flying = False
        self.words = b""
        self._changes = 0
        self._values = array("i", [0] * _VALUES)
        self._introduction = None
        self._anew = False  # how the board is found is to be told from the beginning
        self._again = False  # the event that is under way is to be sent again
        self._told = 0

    def introduce(self):
        """Tell, from the beginning, how the board is found."""
        self._anew = True

    def talk(self, fresh, now):
        """Send what is next, if there is room for it; fresh: the line has just been opened."""
        house, client = self._house, self._client
        if fresh:
            self._again = self.flying
            self._anew = True
        if not client.is_free:
            return
        spare = house.names.spare
        if spare and spare.changes != self._changes:
            self._changes = spare.changes
            self._anew = True
        if self._anew and not client.out.more:
            from .house_introduction import Introduction

            unload("house_introduction")
            if self._introduction:
                self._introduction.close()
            self._introduction = Introduction(self._path, house.names, client.out)
            self._anew = False
        if self._introduction:
            if not self._introduction.go_on():
                self._introduction = None
                self.due = True
                self._told = (now - _LEAST) & _TICKS
        elif self.flying and not client.waits:
            self.flying = False
            house.events.drop()
        elif house.events.held and (self._again or not self.flying):
            self._tell_event()
        elif self.words:
            self._begin(b"said")
            client.out.put(self.words)
            client.out.send(PUBLISH)
            self.words = b""
        elif (now - self._told) & _TICKS >= (_LEAST if self.due else _MINUTE):
            self._told = now
            self.due = False
            self._tell_state()

    # What it tells

    def _begin(self, topic):
        """Begin a message of this topic behind the base."""
        out = self._client.out
        out.begin()
        out.put_16(len(self._base) + len(topic))
        out.put(self._base)
        out.put(topic)

    def _tell_state(self):
        house, values = self._house, self._values
        app = house.app
        values[0] = house.shown
        values[1] = app.confidence * 100 // 255
        values[2] = house.right * 100 >> 16 if house.labels else -1
        values[3] = house.drifting
        values[4] = house.unlike
        values[5] = house.new
        values[6] = app.metrics.samples
        if not app.pace or app.pace.wait() > _COUNTING:
            mem_free(app)
        values[7] = app.rest
        values[8] = house.events.lost
        values[9] = house.label_now
        values[11] = asked = house.asked
        values[10] = house.epoch_of(asked) if asked else -1
        values[12] = house.questions._said if asked else -1
        self._begin(b"state")
        self._fill(_STATE)
        self._client.out.send(PUBLISH | RETAIN)

    def _tell_event(self):
        values, events = self._values, self._house.events
        kind = events.word(KIND)
        values[0] = kind >> 9
        values[1] = (kind & 511) - 1
        values[2] = events.word(EPOCH)
        values[3] = events.word(NUMBER)
        second = events.word(SECOND) << 16 | events.word(SECOND + 1)
        values[4] = max(self._house.app.seconds - second, 0)
        self._begin(b"event")
        first = self._client.put_number(self._again)
        self._again = False
        self.flying = True
        self._fill(_EVENT)
        self._client.out.send(first)

    def _fill(self, form):
        """Put a form with the values."""
        out, values = self._client.out, self._values
        out.begin_form()
        k = out.put_form(form, 0, values)
        while k < len(form):
            self._put(out, form[k], values)
            k = out.put_form(form, k + 1, values)

    def _put(self, out, what, values):
        """Put the next value, which is no number."""
        at = out.next_value(2 if what == _STAMP else 1)
        value = values[at]
        if what == _NAME:
            self._house.names.put(out, value)
        elif what == _KIND:
            self._put_kind(value)
        elif value >= 0:
            out.put_digits(value, 16, 4)
            out.put_digits(values[at + 1], 16, 4)

    def _put_kind(self, value):
        start = 0
        while value:
            start = _KINDS.find(b",", start) + 1
            value -= 1
        self._client.out.put(_KINDS, start, _KINDS.find(b",", start) - start)
