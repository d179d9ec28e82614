"""The PC's end of the serial link: a window of pending requests, resent when they are lost.

docs/reference/link.md specifies the protocol. The device carries out each request exactly once
and in order, whatever happens on the line; if the cable is pulled, the link waits for it to
come back.

    with Link(SerialLine(port)) as link:
        link.connect()
        for pending in link.stream(sample(row, label) for row, label in rows):
            pending.answer, pending.latency
        status = link.ask(STATUS)
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import takewhile

from microshrub_host.base.child_process import patience as how_patient

from . import message_checks, messages
from .frames import VERSION, Frame, Splitter, pack
from .link_errors import LinkError, LostError, RefusedError, RestartedError, StoppedError
from .messages import Answer, Failure, Observed, Request, Welcome, read_answer, read_observed
from .prompt import RESTART, drawn_session, hello_line, shows_prompt, starts_again
from .serial_line import Line

_PATIENCE = 10.0  # seconds
_SLOWEST = 1.0  # seconds: a time-out doubles up to this while no answer arrives
_REOPENINGS = 10  # reopenings of the line in a row, without an answer
_OBSERVATIONS = 256  # kept until the caller fetches them
_RANGE = 1 << 16  # sequence numbers
_RESTARTS = 2  # restarts of the device's program during one hello


_NOBODY = (
    "the device does not answer: is microshrub's program running on it, and is it the right port?"
)
_STOPPED = (
    "the board shows MicroPython's prompt, and no program starts there: flash it, or see what it "
    "says with `mpremote connect PORT repl` and Ctrl-D"
)
_ONE_MICROSHRUB = "build and flash the board with this PC's microshrub"


@dataclass
class PendingAnswer:
    """A pending request; `answer` is None until the answer arrives. Times are in seconds."""

    request: Request
    sequence: int
    line: bytes = field(repr=False)
    posted: float
    sent: float
    nudged: bool = False  # resent because a later answer arrived
    answer: Answer | None = None
    latency: float = 0.0


class HostLink:
    """One end of the line. Requests without an answer are resent after `timeout` seconds; after
    `patience` seconds without any answer, 10 if None, LostError is raised. `on_text` receives
    bytes that are not a frame: text printed by the device's program, or damage. `clock` is for
    tests.
    """

    def __init__(
        self,
        line: Line,
        *,
        timeout: float = 0.5,
        patience: float | None = None,
        on_text: Callable[[bytes], object] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._line = line
        self._timeout = self._wait = timeout
        self._patience = how_patient(_PATIENCE) if patience is None else patience
        self._on_text = on_text
        self._clock = clock
        self._splitter = Splitter()
        self._prompt = False  # text since the last answer had a prompt
        self._rebooted = False  # the board has rebooted since its program was to start
        self._session = 0
        self._next = 1
        self._window = self._longest = 1
        self._flight: deque[PendingAnswer] = deque()  # at most _window requests
        self._reopened = 0  # reopenings since the last answer
        self._progress = 0.0  # time of the last answer
        self._silent = 0.0  # seconds waited for an answer since
        self._greeting: Answer | None = None  # the answer to hello
        self._welcome: Welcome | None = None  # the welcome of the session
        self._open = False  # whether there is a session
        self._greets = 0.0  # time of the hello to a reopened line, 0 once answered
        self.observed: deque[Observed] = deque(maxlen=_OBSERVATIONS)
        self.resent = 0  # requests

    def __enter__(self) -> HostLink:
        return self

    def __exit__(self, *_: object) -> None:
        self._line.close()

    def connect(self, patience: float | None = None) -> Welcome:
        """Begin a session; `patience`, in seconds, is only for this call. Raises LinkError.

        The error is LostError if no device answers.
        """
        while True:
            self._session = drawn_session()
            self._flight.clear()
            self._open, self._greets = False, 0.0
            self._silent, self._wait = 0.0, self._timeout
            greeting = self._hello(self._patience if patience is None else patience)
            if isinstance(greeting, Welcome) and greeting.expected == 1:
                message_checks.check_welcome(greeting)
                self._welcome = greeting
                self._next, self._longest = 1, greeting.longest_payload
                self._open = True
                return greeting
            # otherwise the session's number is or was in use, about once in some thousand times

    def post(self, request: Request) -> PendingAnswer:
        """Send a request of an open session; wait only while the window is full."""
        if len(request.payload) > self._longest:
            raise LinkError(
                f"the device takes requests of up to {self._longest} bytes, this one has "
                f"{len(request.payload)}: is it configured for fewer features?"
            )
        while len(self._flight) >= self._window:
            self._step(self._wait)
        line = pack(Frame(request.kind, self._session, self._next, request.payload))
        now = self._clock()
        pending = PendingAnswer(request, self._next, line, now, now)
        if not self._flight:
            self._progress = now
        self._flight.append(pending)
        self._next = (self._next + 1) % _RANGE
        self._send([pending])
        return pending

    def wait(self, pending: PendingAnswer) -> Answer:
        """Wait for the answer to a posted request; check and return it. Raises RefusedError."""
        while pending.answer is None:
            if not any(pending is other for other in self._flight):
                raise RestartedError
            self._step(self._wait)
        if isinstance(pending.answer, Failure):
            raise RefusedError(pending.answer)
        assert self._welcome
        message_checks.check_answer(pending.request, pending.answer, self._welcome)
        return pending.answer

    def ask(self, request: Request) -> Answer:
        """Send a request and wait for its answer. Raises RefusedError for an error."""
        return self.wait(self.post(request))

    def stream(self, requests: Iterable[Request]) -> Iterator[PendingAnswer]:
        """Send requests, as many at a time as the window allows, and yield them once answered."""
        waiting: deque[PendingAnswer] = deque()
        for request in requests:
            waiting.append(self.post(request))
            self._step(0.0)
            while waiting and waiting[0].answer is not None:
                self.wait(waiting[0])
                yield waiting.popleft()
        while waiting:
            self.wait(waiting[0])
            yield waiting.popleft()

    def poll(self, seconds: float) -> None:
        """Receive answers, and observations into `observed`, for that many seconds."""
        end = self._clock() + seconds
        while (left := end - self._clock()) > 0:
            self._step(left)

    # The line

    def _hello(self, patience: float) -> Answer:
        """Send hello until there is an answer.

        A board that shows MicroPython's prompt was stopped, by another program or by bytes that it
        got during its start: its program is started again. If the program ends again on its own,
        the wait is over. Raises LostError.
        """
        self._greeting = None
        begin = self._clock()
        restarts = 0
        while True:
            self._write(hello_line(self._session))
            end = self._clock() + self._timeout
            while (left := end - self._clock()) > 0:
                self._read(left)
                if self._greeting:
                    return self._greeting
            if self._clock() - begin > patience:
                raise self._stopped() if self._is_stopped() else LostError(_NOBODY)
            if self._is_stopped():
                if restarts < _RESTARTS:
                    restarts += 1
                    self._restart()
                elif self._rebooted or starts_again(self._splitter.rest):
                    raise self._stopped()

    def _is_stopped(self) -> bool:
        """Return whether the board has shown MicroPython's prompt."""
        return self._prompt or shows_prompt(self._splitter.rest)

    def _stopped(self) -> StoppedError:
        """Return the error for a stopped board; give on_text the bytes after the last zero."""
        if self._on_text:
            self._on_text(self._splitter.rest)
        return StoppedError(_STOPPED)

    def _restart(self) -> None:
        """Have a board that shows its prompt start its program."""
        self._splitter, self._prompt, self._rebooted = Splitter(), False, False
        self._write(RESTART)

    def _step(self, seconds: float) -> None:
        """Read once, for at most `seconds`, and resend overdue requests."""
        self._read(max(min(seconds, self._due() - self._clock()), 0.0))
        if self._clock() >= self._due():
            self._silent += self._wait
            if self._is_stopped() and not self._greets:
                raise self._stopped()
            if self._silent > self._patience:
                raise LostError(f"the device has not answered for {self._patience:g} seconds")
            self._wait = max(self._timeout, min(2 * self._wait, _SLOWEST))
            if self._greets:
                self._greet()
                return
            for pending in self._flight:
                pending.nudged = False
            self._send_again(self._flight)

    def _greet(self) -> None:
        """Send hello to the open session before any other request."""
        self._greets = self._clock()
        if self._is_stopped():
            self._restart()
        self._write(hello_line(self._session))

    def _due(self) -> float:
        """Return when to resend the oldest request, or the hello after a broken line."""
        if self._greets:
            return self._greets + self._wait
        if not self._flight:
            return math.inf
        return max(self._flight[0].sent, self._progress) + self._wait

    def _send(self, some: Iterable[PendingAnswer]) -> None:
        for pending in some:
            pending.sent = self._clock()
            if not self._greets:
                self._write(pending.line)

    def _send_again(self, some: Iterable[PendingAnswer]) -> None:
        missing = [pending for pending in some if pending.answer is None]
        self.resent += len(missing)
        self._send(missing)

    def _write(self, data: bytes) -> None:
        try:
            self._line.write(data)
        except OSError as error:
            self._reopen(error)

    def _read(self, seconds: float) -> None:
        try:
            data = self._line.read(seconds)
        except OSError as error:
            self._reopen(error)
            return
        for part in self._splitter.feed(data):
            if isinstance(part, Frame):
                self._frame(part)
            else:
                if starts_again(part):
                    self._prompt, self._rebooted = False, True
                self._prompt |= shows_prompt(part)
                if self._on_text:
                    self._on_text(part)

    def _reopen(self, error: OSError) -> None:
        """Wait until the line is back, and send hello before any other request.

        The open session then goes on, unless the device answers that it was reset. Pending
        requests are overdue.
        """
        self._reopened += 1
        try:
            if self._reopened > _REOPENINGS:
                raise error
            self._line.reopen(self._patience)
        except OSError as last:
            raise LostError(f"the line is gone: {last.strerror or last}") from last
        self._wait = self._timeout
        self._progress = self._clock()
        self._splitter, self._prompt = Splitter(), False
        if self._open:
            self._greet()

    def _greeted(self, greeting: Answer) -> None:
        """Continue at the device's place. Raises RestartedError if that is not in this session."""
        self._greets = 0.0
        oldest = self._flight[0].sequence if self._flight else self._next
        waits_for = greeting.expected if isinstance(greeting, Welcome) else -1
        if waits_for < 0 or (waits_for - oldest) % _RANGE > len(self._flight):
            raise RestartedError
        self._send_again(self._flight)

    def _frame(self, frame: Frame) -> None:
        if frame.version != VERSION:
            raise LinkError(
                f"the device speaks version {frame.version} of the link, this program version "
                f"{VERSION}: {_ONE_MICROSHRUB}"
            )
        if frame.session != self._session:
            return
        self._prompt = False
        if frame.kind == messages.AGAIN:
            self._send_again(
                p for p in self._flight if (p.sequence - frame.sequence) % _RANGE < _RANGE // 2
            )
        elif frame.kind == messages.OBSERVED:
            observed = read_observed(frame)
            if observed and self._welcome:
                message_checks.check_observed(observed, self._welcome)
                self.observed.append(observed)
        elif answer := read_answer(frame):
            self._window = max(frame.credits, 1)
            self._reopened, self._silent = 0, 0.0
            self._answered(frame.sequence, answer)

    def _answered(self, sequence: int, answer: Answer) -> None:
        code = answer.code if isinstance(answer, Failure) else 0
        if isinstance(answer, Welcome) or code == messages.USED_SESSION:
            self._greeting = answer
            if self._greets:
                self._greeted(answer)
            return
        if code == messages.NO_SESSION:
            raise RestartedError
        for pending in self._flight:
            if pending.sequence == sequence and pending.answer is None:
                self._close(pending, answer)
                break

    def _close(self, pending: PendingAnswer, answer: Answer) -> None:
        """Note an answer. Missing earlier answers are lost, as answers arrive in order."""
        now = self._clock()
        pending.answer, pending.latency = answer, now - pending.posted
        self._progress, self._wait = now, self._timeout
        earlier = list(takewhile(lambda p: p is not pending, self._flight))
        while self._flight and self._flight[0].answer is not None:
            self._flight.popleft()
        late = [p for p in earlier if p.answer is None and not p.nudged]
        for p in late:
            p.nudged = True
        self._send_again(late)
