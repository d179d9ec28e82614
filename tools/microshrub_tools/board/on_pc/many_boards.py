"""Many boards that report to an MQTT broker, in one MicroPython: many_boards.py PLAN.

The boards send with the device's own MqttCompanion, its client and its packets, over real sockets.
Only a board's prediction is made up: it is the next class every `period` seconds. The boards share
a clock, which counts whole seconds, and stops while the broker owes an answer for longer than
_PATIENT, so that a slow PC breaks no line. PLAN is a file of JSON:

    library    the folder with the device library
    folder     the folder of each board's NAME-discovery.bin, where `sent` is written
    port       the broker's port, on this PC
    boards     the boards' names
    first, all  the first board's number, and the number of all boards, also of other programs
    classes    the classes' names
    period     seconds between two changes
    found      number of retained messages that announce a board

A line of standard input, "SECONDS MICROSECONDS", makes the boards run for that many seconds, each
of them at least that many microseconds long. The answer is a line of JSON, with the fields of
Count. The file `sent-FIRST` has a line for each state that was sent: the board's number, and
microseconds of time.time_ns().
"""

import io
import json
import sys
import time

_MINUTE = 60
_PING = 25  # seconds of silence before a ping is sent
_PATIENT = 10  # seconds that the broker may owe an answer
_FILENO = 10  # a request of a stream
_STATE = 0x31  # first byte of a packet with a retained message
_PINGREQ = 0xC0  # first byte of a ping
_QOS_1 = 2
_COUNTED = ("sent", "received", "states", "begun", "begins")


class Count:
    """The traffic of the lines since began().

    sent, received   bytes
    states           states sent
    begins, begun    lines with a first state, and bytes sent before the first state on these lines
    packets          packets sent, by their first byte
    """

    def __init__(self):
        self.began()

    def began(self):
        """Start to count."""
        self.received = self.sent = self.states = self.begun = self.begins = 0
        self.packets = {}


class Line(io.IOBase):
    """A socket whose bytes and packets are counted; discoveries is `found` of PLAN."""

    def __init__(self, socket, discoveries, count, clock, state_goes):
        self._socket = socket
        self._discoveries = discoveries
        self._count = count
        self._clock = clock
        self._state_goes = state_goes
        self._left = 0  # bytes left of the packet being sent
        self._first = -1  # the packet's first byte, until its length is known
        self._shift = self._size = 0
        self._sent = 0
        self.owed = -1  # the second since which the broker owes an answer
        self.heard = self.wrote = self.reported = clock.second  # the last second of each

    @property
    def is_new(self):
        """Whether only the messages that announce the board have been sent."""
        return self._discoveries >= 0

    def setblocking(self, wait):
        """Do nothing: a socket on this PC connects at once, and never waits afterwards."""

    def connect(self, address):
        """Connect the socket."""
        self._socket.connect(address)
        self._socket.setblocking(False)

    def ioctl(self, request, flags):
        """Return the number of the socket's file, for polling."""
        return self._socket.fileno() if request == _FILENO else -1

    def close(self):
        """Close the socket."""
        self._socket.close()

    def readinto(self, buffer, n):
        """Read bytes from the socket; return what its readinto() returns."""
        came = self._socket.readinto(buffer, n)
        if came:
            self._count.received += came
            self.heard = self._clock.second
            self.owed = -1
        return came

    def write(self, data, at, n):
        """Send as many bytes as the socket takes."""
        self._at = time.time_ns() // 1000
        took = self._socket.write(data, at, n)
        if took:
            self._count.sent += took
            self._look(data, at, at + took)
            self._sent += took
            self.wrote = self._clock.second
        return took

    def _look(self, data, at, end):
        while at < end:
            if self._left:
                passed = min(self._left, end - at)
                self._left -= passed
                at += passed
            elif self._first < 0:
                self._first = data[at]
                self._shift = self._size = 0
                at += 1
            else:
                self._size |= (data[at] & 127) << self._shift
                self._shift += 7
                if data[at] < 128:
                    self._left = self._size
                    self._begins(self._first)
                    self._first = -1
                at += 1

    def _begins(self, first):
        packets = self._count.packets
        packets[first] = packets.get(first, 0) + 1
        if first == _PINGREQ or (first >> 4 == 3 and first & _QOS_1):
            self.owed = self._clock.second if self.owed < 0 else self.owed
        elif first == _STATE:
            self._discoveries -= 1
            if self._discoveries == -1:
                self._count.begins += 1
                self._count.begun += self._sent  # the packet begins this write
            if self._discoveries < 0:
                self._count.states += 1
                self.reported = self._clock.second
                self._state_goes(self._at)


class Clock:
    """The time of all boards."""

    def __init__(self):
        self.second = 0

    def milliseconds(self):
        """Return the milliseconds as Hardware does, in 30 bits."""
        return self.second * 1000 & 0x3FFFFFFF


class Network:
    """A network that is always joined."""

    def joined(self):
        """Return True: the network is joined."""
        return True


class Seen:
    """An application whose predictions are set from outside; it learns nothing."""

    anomaly = alarm = queries = pace = sharing = None
    confidence = 204  # 0..255, too low for one prediction to be reported at once
    sample_id = 0
    room = rest = 0  # bytes of the heap, once they are counted

    def __init__(self, plan, name):
        self.configuration = self.metrics = self.quantizer = self.learner = self
        self.votes = (4, 1)  # votes of a learner that has learned something
        self.network = {
            "mqtt": {"name": name, "host": "127.0.0.1", "port": plan["port"],
                     "settle": [3, 230], "events": 64}
        }  # fmt: skip
        self.class_names = plan["classes"]
        self.spare = self.spare_classes = None
        self.frozen = True
        self.samples = self.seconds = self.now = 0

    def mem_free(self):
        """Do nothing: the heap is not counted."""

    def unsaved(self):
        """Return 0: nothing waits to be saved."""
        return 0

    def sample(self, label):
        """Return the class that was set."""
        self.samples += 1
        return self.now

    def tick(self, milliseconds):
        """Set the time; return how many milliseconds have passed."""
        before = self.seconds
        self.seconds = milliseconds // 1000
        return 1000 * (self.seconds - before)


class Board:
    """A board that starts within the first minute."""

    def __init__(self, plan, number, name, clock, count, sent):
        self._plan = plan
        self._name = name
        self._clock = clock
        self.mqtt = self.line = None
        self.until = _MINUTE * number // plan["all"]
        self._next = self.until + plan["period"] * (number + 1) // plan["all"]
        self._number = number
        self._sent = sent
        self._lines = count

    def opened(self, socket):
        """Return a line over the socket for this board."""
        self.line = Line(socket, self._plan["found"], self._lines, self._clock, self._goes)
        return self.line

    def _goes(self, at):
        self._sent.write("%d %d\n" % (self._number, at))

    def turn(self, make_mqtt):
        """Do the board's work of a second; make_mqtt is the function of network_start.py."""
        if self.mqtt is None:
            plan = self._plan
            self.app = Seen(plan, self._name)
            (self.mqtt,) = make_mqtt(
                self.app, self._clock, None, "%s/%s-" % (plan["folder"], self._name), quiet,
                Network(), ("", ""),
            )  # fmt: skip
            self._see()
        if self._clock.second >= self._next:
            self._next += self._plan["period"]
            self.app.now = (self.app.now + 1) % len(self.app.class_names)
            self._see()
        milliseconds = self._clock.milliseconds()
        self.mqtt.turn(milliseconds, self.app.tick(milliseconds))
        self.until = self._until()

    def _see(self):
        for _ in range(3):  # a new class has to be predicted three times
            self.mqtt.show(self.app.sample(-1), -1)

    def _until(self):
        """Return the second of the board's next work: a turn before it would change nothing."""
        second, line = self._clock.second, self.line
        if line is None or line.is_new or not self.is_still():
            return second
        quiet = min(line.heard, line.wrote)
        return min(self._next, quiet + _PING + 1, line.reported + _MINUTE)

    def is_still(self):
        """Return whether all events are sent, and all packets answered."""
        return self.mqtt is None or not (self.mqtt.events.held or self.line.owed >= 0)


def quiet(words):
    """Write a board's message to standard error, unless it is that the board has connected."""
    if not words.endswith("connected"):
        sys.stderr.write(words + "\n")


class Sockets:
    """MicroPython's module socket, whose sockets are lines of the board whose turn it is."""

    def __init__(self, module):
        self._module = module
        self.SOCK_STREAM = module.SOCK_STREAM
        self.getaddrinfo = module.getaddrinfo
        self.board = None

    def socket(self, family):
        """Return a line of the board whose turn it is."""
        return self.board.opened(self._module.socket(family))


class Boards:
    """The boards of a plan."""

    def __init__(self, plan):
        import socket

        sys.path.insert(0, plan["library"])
        self._sockets = sys.modules["socket"] = Sockets(socket)
        from microshrub.device.network_start import make_mqtt

        self._make_mqtt = make_mqtt
        self._clock = Clock()
        self._count = Count()
        self._sent = open(plan["folder"] + "/sent-%d" % plan["first"], "w")
        self._boards = [
            Board(plan, plan["first"] + k, name, self._clock, self._count, self._sent)
            for k, name in enumerate(plan["boards"])
        ]

    def go_on(self, seconds, microseconds):
        """Run the boards for that many seconds; return the counts of their lines."""
        self._count.began()
        began = time.ticks_us()
        for passed in range(1, seconds + 1):
            self._clock.second += 1
            while not self._turn():
                pass
            left = passed * microseconds - time.ticks_diff(time.ticks_us(), began)
            if left > 0:
                time.sleep_us(left)
        while not all(board.is_still() for board in self._boards):
            self._turn()
        self._sent.flush()
        count = self._count
        counts = {name: getattr(count, name) for name in _COUNTED}
        counts["packets"] = count.packets
        return counts

    def _turn(self):
        """Run each board that has something to do; return whether the broker answers in time."""
        second = self._clock.second
        in_time = True
        for board in self._boards:
            if second >= board.until:
                self._sockets.board = board
                board.turn(self._make_mqtt)
                owed = board.line.owed
                in_time = in_time and (owed < 0 or second - owed <= _PATIENT)
        return in_time


with open(sys.argv[1]) as file:
    boards = Boards(json.load(file))
while True:
    line = sys.stdin.readline()
    if not line:
        break
    print(json.dumps(boards.go_on(*[int(word) for word in line.split()])))
